import { chmod, cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ApiObject } from "../objects/object.ts";
import { type Database, levelJournal } from "./level.ts";
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

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

test("only the owner can read the data, even if the directory was open to all", async () => {
  const path = join(directory, "data");
  await mkdir(path, { mode: 0o755 });
  await (await openStore(path)).close();
  expect(await modeOf(path)).toBe(0o700);
  await chmod(path, 0o755);
  await chmod(join(path, "CURRENT"), 0o644);
  const store = await openStore(path);
  expect(await modeOf(path)).toBe(0o700);
  expect(await modeOf(join(path, "CURRENT"))).toBe(0o600);
  await store.close();
});

test("a directory that is open to all and holds other files is rejected, and its mode is kept", async () => {
  await chmod(directory, 0o755);
  await writeFile(join(directory, "notes.txt"), "");
  await expect(openStore(directory)).rejects.toMatchObject({
    code: "DATA_DIR",
    message: expect.stringMatching(
      /other users can read it \(mode 755\) and it holds other files: choose an empty directory, or run chmod 700/,
    ),
  });
  expect(await modeOf(directory)).toBe(0o755);
  expect(await readdir(directory)).toEqual(["notes.txt"]);
});

/** Fails as LevelDB does: after one failed write, all writes fail until it is opened again. */
class TestDatabase implements Database {
  status = "open";
  full = false;
  failed = false;
  readonly content = new Map<string, string>();

  async open() {
    if (this.full) throw new Error("no space left on device");
    this.status = "open";
    this.failed = false;
  }
  async close() {
    this.status = "closed";
  }
  async get(key: string) {
    return this.content.get(key);
  }
  async put(key: string, value: string) {
    await this.batch([{ type: "put", key, value }]);
  }
  async batch(changes: Parameters<Database["batch"]>[0]) {
    this.failed ||= this.full;
    if (this.failed || this.status !== "open") throw new Error("no space left on device");
    for (const change of changes) {
      if (change.type === "put") this.content.set(change.key, change.value);
      else this.content.delete(change.key);
    }
  }
}

test("when a full disk has space again, the journal opens the database again and continues", async () => {
  const db = new TestDatabase();
  const journal = levelJournal(db);
  await journal.write([{ revision: 2, key: "/registry/things/a", json: "{}" }]);
  db.full = true;
  await expect(journal.write([{ revision: 3, key: "/registry/things/b", json: "{}" }])).rejects.toThrow();
  await expect(journal.recover()).rejects.toThrow();
  db.full = false;
  expect(await journal.recover()).toBe(2);
  await journal.write([{ revision: 3, key: "/registry/things/a", json: undefined }]);
  expect([...db.content.keys()]).toEqual(["!revision"]);
  expect(db.content.get("!revision")).toBe("3");
});
