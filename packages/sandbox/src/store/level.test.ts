import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ApiObject } from "../objects/object.ts";
import { openStore } from "./open.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tenure-store-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const object = (name: string): ApiObject => ({ kind: "Thing", apiVersion: "v1", metadata: { name } });

test("a reopened store has all commits and continues with the next revision", async () => {
  const first = await openStore(join(directory, "data"));
  await first.commit("/registry/things/a", () => object("a"));
  await first.commit("/registry/things/b", () => object("b"));
  await first.commit("/registry/things/a", () => "delete");
  const revision = first.revision;
  await first.close();
  const second = await openStore(join(directory, "data"));
  expect(second.list("/registry/things/").map(({ value }) => value.metadata.name)).toEqual(["b"]);
  expect(second.revision).toBe(revision);
  const next = await second.commit("/registry/things/c", () => object("c"));
  expect(next?.revision).toBe(revision + 1);
  await second.close();
});

test("an acknowledged commit is on disk: a copy of the directory of a running store has it", async () => {
  const running = await openStore(join(directory, "data"));
  for (let index = 0; index < 20; index++) {
    const stored = await running.commit("/registry/things/a", () => object(`n${index}`));
    if (index % 7 !== 0) continue;
    await cp(join(directory, "data"), join(directory, `copy-${index}`), { recursive: true });
    await rm(join(directory, `copy-${index}`, "LOCK"), { force: true });
    const copy = await openStore(join(directory, `copy-${index}`));
    expect(copy.revision).toBe(stored?.revision);
    expect(copy.get("/registry/things/a")?.json).toBe(stored?.json);
    await copy.close();
  }
  await running.close();
});

test("a directory in use is rejected, and the error says what to do", async () => {
  const first = await openStore(join(directory, "data"));
  await expect(openStore(join(directory, "data"))).rejects.toMatchObject({
    code: "DATA_DIR",
    message: expect.stringMatching(
      /another process uses it: stop that process, or choose another directory$/,
    ),
  });
  await first.close();
});

test("a path that is not a directory is rejected", async () => {
  const file = join(directory, "file");
  await writeFile(file, "");
  await expect(openStore(file)).rejects.toMatchObject({ code: "DATA_DIR" });
});
