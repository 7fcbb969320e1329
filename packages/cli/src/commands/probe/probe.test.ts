import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fakePlatform } from "../../testing/fake-platform.ts";
import { probeFast } from "./fast.ts";

let folder: string;
let server: Server;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenure-probe-"));
  server = createServer(({ url: path }, response) => {
    if (path === "/hang") return;
    response.writeHead(path === "/ok" ? 200 : 503).end("because\nof that");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

async function probe(...args: string[]) {
  const platform = fakePlatform(["probe", ...args], { home: folder });
  return [await probeFast(platform), platform.printed];
}

/** The clock of the fake platform shows 2026-01-02T03:04:05Z. */
it.each([
  ["ok\n", [], 0, "exists"],
  ["", [], 0, "exists"],
  ["ok\ntoken 7\nuntil 2026-01-02T03:04:06.000Z\n", [], 0, "exists"],
  ["ok\ntoken 7\nuntil 2026-01-02T03:04:05.000Z\n", [], 1, "expired at 2026-01-02T03:04:05.000Z"],
  ["pod-1\n", ["--contains", "pod-1"], 0, "contains pod-1"],
  ["pod-10\n", ["--contains", "pod-1"], 1, "contains pod-10, not pod-1"],
  ["", ["--contains=pod-1"], 1, "contains nothing, not pod-1"],
])("a file with %j and %j: %d", async (text, args, code, words) => {
  const file = join(folder, "ready");
  await writeFile(file, text);
  expect(await probe("--file", file, ...args)).toEqual([code, expect.stringContaining(words)]);
});

it("a missing file is not ready", async () => {
  expect(await probe("--file", join(folder, "none"))).toEqual([
    1,
    `not ready: ${folder}/none does not exist\n`,
  ]);
});

it("a URL", async () => {
  expect(await probe("--url", `${url}/ok`)).toEqual([0, `ready: ${url}/ok returned 200: because\n`]);
  expect(await probe("--url", `${url}/no`)).toEqual([1, `not ready: ${url}/no returned 503: because\n`]);
  expect(await probe("--url", `${url}/hang`, "--timeout", "50ms")).toEqual([
    1,
    `not ready: ${url}/hang did not respond within 50 ms\n`,
  ]);
  expect(await probe("--url", "http://127.0.0.1:1/")).toEqual([1, expect.stringContaining("ECONNREFUSED")]);
});

it.each([
  [[]],
  [["--help"]],
  [["--file"]],
  [["--file", "x", "--url", "http://x"]],
  [["--file", "x", "--contains", ""]],
  [["--url", "ftp://x"]],
  [["--lease", "x"]],
  [["--file", "x", "y"]],
])("%j is left to command-line.ts", async (args) => {
  expect(await probe(...args)).toEqual([undefined, ""]);
});

it("settings from the environment are left to command-line.ts", async () => {
  const platform = fakePlatform(["probe", "--file", "x"], {
    home: folder,
    env: { TENURE_CONTAINS: "pod-1" },
  });
  expect(await probeFast(platform)).toBeUndefined();
});
