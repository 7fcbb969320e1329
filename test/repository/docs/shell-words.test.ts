import { expect, test } from "vitest";
import { commandsIn } from "./shell-words.ts";

test.each([
  ["tenure status a -n b   # why", [["tenure", "status", "a", "-n", "b"]]],
  ["# a comment\nexec tenure elect --id=1 \\\n  --preset=x", [["tenure", "elect", "--id=1", "--preset=x"]]],
  ["POD_NAME=a tenure x > file 2>&1", [["tenure", "x"]]],
  [
    "tenure x | jq -r '.a | .b' && echo \"a b\"",
    [
      ["tenure", "x"],
      ["jq", "-r", ".a | .b"],
      ["echo", "a b"],
    ],
  ],
  [
    "tenure run -- sh -c 'while sleep 1; do date; done'",
    [["tenure", "run", "--", "sh", "-c", "while sleep 1; do date; done"]],
  ],
  [
    "until tenure status a; do sleep 1; done",
    [
      ["tenure", "status", "a"],
      ["sleep", "1"],
    ],
  ],
  ['x --token="$(kubectl create token sa)"', [["x", "--token=$(kubectl create token sa)"]]],
])("%s", (code, expected) => {
  expect(commandsIn(code)).toEqual(expected);
});
