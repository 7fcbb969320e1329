import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@tenure/base/virtual-clock";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ContainerLog } from "./container-log.ts";
import { type LogOptions, readLog } from "./read-log.ts";

let folder = "";
let clock: VirtualClock;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tenure-log-"));
  clock = new VirtualClock();
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (limit?: number) => new ContainerLog(join(folder, "app/0.log"), clock, limit);
const write = (log: ContainerLog, text: string, stream: "stdout" | "stderr" = "stdout") =>
  new Promise((resolve) => log.stream(stream).write(text, resolve));

async function read(log: ContainerLog, options: Partial<LogOptions> = {}): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of readLog(log.path, log, { signal: new AbortController().signal, ...options }))
    pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

it("joins pieces to lines, and keeps a last line without a break", async () => {
  const log = open();
  await write(log, "one\ntw");
  await write(log, "err\n", "stderr");
  await write(log, "o\nlast");
  log.end();
  expect(await read(log)).toBe("one\nerr\ntwo\nlast");
});

it("selects by count, by time and by size, and shows times", async () => {
  const log = open();
  await write(log, "a\n");
  await clock.pass(1_000);
  await write(log, "b\nc\n");
  expect(await read(log, { tailLines: 1 })).toBe("c\n");
  expect(await read(log, { tailLines: 0 })).toBe("");
  expect(await read(log, { sinceTime: "2030-01-01T00:00:00.500000000Z" })).toBe("b\nc\n");
  expect(await read(log, { limitBytes: 3 })).toBe("a\nb");
  expect(await read(log, { tailLines: 1, timestamps: true })).toBe("2030-01-01T00:00:01.000000000Z c\n");
});

it("follows until the container has ended, also over a new file", async () => {
  const log = open(100);
  let seen = "";
  const followed = (async () => {
    const { signal } = new AbortController();
    for await (const piece of readLog(log.path, log, { signal, follow: true })) seen += piece;
  })();
  let written = "";
  for (let line = 1; line < 9; line++) {
    await write(log, `${line}\n`);
    written += `${line}\n`;
    await expect.poll(() => seen).toBe(written);
  }
  log.end();
  await followed;
});

it("a reader that was slow gets the rest of the file that was replaced", async () => {
  const log = open(150);
  const pieces = readLog(log.path, log, { signal: new AbortController().signal, follow: true });
  await write(log, "1\n");
  expect(String((await pieces.next()).value)).toBe("1\n");
  await write(log, "2\n3\n4\n5\n");
  log.end();
  let rest = "";
  for await (const piece of pieces) rest += piece;
  expect(rest).toBe("2\n3\n4\n5\n");
});

it("stops following when the reader leaves", async () => {
  const log = open();
  const reader = new AbortController();
  const followed = read(log, { follow: true, signal: reader.signal });
  reader.abort();
  expect(await followed).toBe("");
});

it("cuts a line that is too long into pieces without losing any of it", async () => {
  const log = open();
  const long = "x".repeat(40_000);
  await write(log, `${long}\nnext\n`);
  expect(await read(log)).toBe(`${long}\nnext\n`);
});
