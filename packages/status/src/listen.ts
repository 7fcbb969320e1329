/** Listens on the address of a status server, and explains why it cannot. */
import { chmod, lstat, rm } from "node:fs/promises";
import type { Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { messageOf } from "@tenure/base";
import { StatusError } from "./errors.ts";
import type { ListenAddress } from "./listen-address.ts";

/** Processes that share a group with this one may connect. The containers of a pod share a group if fsGroup is set. */
const socketMode = 0o660;

export async function listen(server: Server, address: ListenAddress): Promise<void> {
  try {
    await bind(server, address);
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
    if (!isTaken || address.kind !== "unix" || !(await isLeftover(address.path)))
      throw cannotListen(error, address);
    await rm(address.path, { force: true });
    await bind(server, address).catch((again) => {
      throw cannotListen(again, address);
    });
  }
  if (address.kind === "unix") await chmod(address.path, socketMode);
}

/** The address for clients. */
export function addressOf(server: Server, address: ListenAddress): string {
  if (address.kind === "unix") return `unix:${address.path}`;
  const { port } = server.address() as AddressInfo;
  const host = address.host ?? "0.0.0.0";
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function bind(server: Server, address: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    const bound = () => {
      server.off("error", reject);
      resolve();
    };
    if (address.kind === "unix") server.listen(address.path, bound);
    else if (address.host === undefined) server.listen(address.port, bound);
    else server.listen(address.port, address.host, bound);
  });
}

/** Whether no process listens on the socket: it was left behind when the container was restarted. */
async function isLeftover(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isSocket()) return false;
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  });
}

function cannotListen(error: unknown, address: ListenAddress): StatusError {
  const where = address.kind === "unix" ? `unix:${address.path}` : `${address.host ?? ""}:${address.port}`;
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: "another process listens on this address; stop it, or choose another address",
    EACCES: "permission denied; choose a port of 1024 or above, or a writable directory",
    EADDRNOTAVAIL: "this machine does not have this address",
    ENOTFOUND: "the host name cannot be resolved",
    ENOENT: "the directory of the socket does not exist",
  };
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return new StatusError(
    "CannotListen",
    `Cannot serve the status on ${where}: ${reasons[code] ?? messageOf(error)}.`,
    { cause: error },
  );
}
