import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makePrivate } from "./data-directory.ts";

test("a directory that does not exist is created with its parents, and only its owner can read it", async () => {
  const parent = await mkdtemp(join(tmpdir(), "tenure-directory-"));
  await makePrivate(join(parent, "a", "b"));
  expect((await stat(join(parent, "a", "b"))).mode & 0o777).toBe(0o700);
  await rm(parent, { recursive: true });
});
