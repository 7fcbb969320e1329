import { describeProblems } from "@tenure/base";
import { expect, it } from "vitest";
import { checkStopSignal } from "./stop-signal.ts";

it.each([
  ["SIGQUIT", "SIGQUIT"],
  ["quit", "SIGQUIT"],
  ["sigint", "SIGINT"],
  ["WINCH", "SIGWINCH"],
])("reads %s as %s", (text, signal) => {
  expect(checkStopSignal(text)).toEqual({ value: signal, problems: [] });
});

it.each([
  [
    "SIGKILL",
    'stopSignal must be a signal that a program can handle, but is "SIGKILL"; to stop without waiting, lower stopTimeout',
  ],
  ["SIGTREM", expect.stringContaining("did you mean SIGTERM?")],
  ["15", expect.stringContaining("stopSignal must be one of SIGTERM, SIGINT, SIGQUIT")],
])("rejects %s", (text, message) => {
  expect(describeProblems(checkStopSignal(text).problems)).toEqual([message]);
});
