#!/usr/bin/env python3
"""Any program can be the leader's child. This one appends to a file and protects it from stale workers.

tenure run --lease-lock-name ledger -- python3 examples/stream-worker/worker.py /shared/ledger.txt

Each line is "token identity number". Under a lock on the file, it compares its own token with the token in the last line, and
exits if that one is later: another worker has taken over. On SIGTERM it finishes its line and exits with 0.
"""
import fcntl
import os
import signal
import sys
import threading

stopping = threading.Event()


def last_line(file):
    file.seek(0, os.SEEK_END)
    file.seek(max(0, file.tell() - 4096))
    lines = file.read().decode().splitlines()
    return lines[-1].split() if lines else ["0", "nobody", "0"]


def append(path, token, identity):
    with open(path, "a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        seen, _, number = last_line(file)
        if int(seen) > token:
            return None
        file.write(f"{token} {identity} {int(number) + 1}\n".encode())
        return int(number) + 1


def main():
    path = sys.argv[1]
    pause = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    token = int(os.environ.get("TENURE_TOKEN", "0"))
    identity = os.environ.get("TENURE_IDENTITY", "unknown")
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    signal.signal(signal.SIGINT, lambda *_: stopping.set())
    while not stopping.is_set():
        if append(path, token, identity) is None:
            print(f"token {token} is stale: another worker has taken over", file=sys.stderr)
            return 1
        stopping.wait(pause)
    return 0


sys.exit(main())
