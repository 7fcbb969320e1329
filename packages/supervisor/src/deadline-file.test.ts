import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { DeadlineFile } from "./deadline-file.ts";

const folders: string[] = [];

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "tenure-test-"));
  folders.push(made);
  return made;
}

afterAll(() => {
  for (const made of folders) rmSync(made, { recursive: true });
});

const at = (monoMs: number) => ({ monoMs, wallMs: Date.parse("2030-01-02T03:04:05.678Z") });

it("contains one line of JSON, and is removed at the end", async () => {
  const parent = folder();
  const file = new DeadlineFile(parent, () => {});
  file.open();
  await file.write(at(123_456.7), 42n);
  const path = file.path as string;
  expect(readFileSync(path, "utf8")).toBe(
    '{"deadline":"2030-01-02T03:04:05.678Z","monotonicMs":123456,"token":"42"}\n',
  );
  await file.remove();
  expect(readdirSync(parent)).toEqual([]);
});

it("contains the last of many deadlines, and never a part of one", async () => {
  const file = new DeadlineFile(folder(), () => {});
  file.open();
  const writing = Array.from({ length: 200 }, (_, index) => file.write(at(index), 1n));
  for (let look = 0; look < 50; look++) {
    if (existsSync(file.path as string)) JSON.parse(readFileSync(file.path as string, "utf8"));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(writing);
  expect(JSON.parse(readFileSync(file.path as string, "utf8")).monotonicMs).toBe(199);
  await file.remove();
});

it("contains the first deadline of a term at once, and never an older one after it", async () => {
  const file = new DeadlineFile(folder(), () => {});
  file.open();
  const deadlineMs = () => JSON.parse(readFileSync(file.path as string, "utf8")).monotonicMs;
  const first = file.write(at(1), 1n);
  expect(deadlineMs()).toBe(1);
  await Promise.all([first, file.write(at(2), 1n), file.write(at(3), 2n)]);
  expect(deadlineMs()).toBe(3);
  await file.remove();
});

it("reports once that it cannot be written", async () => {
  const parent = folder();
  const notAFolder = join(parent, "file");
  writeFileSync(notAFolder, "");
  const errors: Error[] = [];
  const file = new DeadlineFile(notAFolder, (error) => errors.push(error));
  file.open();
  await file.write(at(1), 1n);
  await file.write(at(2), 1n);
  expect([file.path, errors.length]).toEqual([undefined, 1]);
  expect(errors[0]).toMatchObject({ code: "DeadlineFile" });
  await file.remove();
});
