import { describe, expect, it } from "vitest";
import type { Observation } from "../model/observation.ts";
import { headerLine, observationLine, readRecording } from "./recording.ts";

const header = headerLine(Date.UTC(2030, 0, 1), "tenure watch -A");
const lines = (...seen: Observation[]) => header + seen.map(observationLine).join("");

it("reads what it wrote, in the order of time", () => {
  const first: Observation = { kind: "renewed", atMs: 5, election: "a/b" };
  const second: Observation = { kind: "work", atMs: 2, election: "a/b", id: "x", fromMs: 1, toMs: 2 };
  expect(readRecording(lines(first, second), "f")).toEqual({
    header: {
      recording: "tenure",
      version: 1,
      startedAt: "2030-01-01T00:00:00.000Z",
      source: "tenure watch -A",
    },
    observations: [second, first],
    isCut: false,
  });
});

it("leaves out a last line that was cut short, and kinds that it does not know", () => {
  const text = `${header}{"kind":"weather","atMs":1}\n${observationLine({ kind: "time", atMs: 2 })}{"kind":"ti`;
  const { observations, isCut } = readRecording(text, "f");
  expect(observations).toEqual([{ kind: "time", atMs: 2 }]);
  expect(isCut).toBe(true);
});

describe("refuses with one sentence that names the place", () => {
  it.each([
    ["", "f is not a recording of tenure: it is empty. Make one with tenure watch --record FILE."],
    [
      "hello\n",
      'f is not a recording of tenure: its first line is "hello". Make one with tenure watch --record FILE.',
    ],
    [
      '{"recording":"tenure","version":2}\n',
      "f has version 2 of the format, but this tenure reads up to version 1: use a newer tenure.",
    ],
    [`${header}{"kind":"lost","atMs":1,"election":"a/b"}\n`, "Cannot read line 2 of f: id must be a text."],
    [`${header}{"kind":"time","atMs":"1"}\n`, "Cannot read line 2 of f: atMs must be a number."],
    [`${header}[]\n`, "Cannot read line 2 of f: it is not a JSON object."],
    [
      `${header}{"kind":"lock","atMs":1,"election":"a/b","holder":"","transitions":0,"leaseMs":1,"orders":{"paused":"x"}}\n`,
      "Cannot read line 2 of f: orders must be an object with orders.",
    ],
    [
      `${header}{"kind":"candidates","atMs":1,"election":"a/b","candidates":[7]}\n`,
      "Cannot read line 2 of f: candidates must be a list of objects with id and state.",
    ],
  ])("%j", (text, message) => {
    expect(() => readRecording(text, "f")).toThrow(message);
  });
});
