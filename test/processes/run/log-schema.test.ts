/** Every line of the JSON log has an event and the fields that docs/reference/log.md declares for it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { lineProblems } from "../../../packages/cli/src/log/events.ts";
import { newWorld } from "./world.ts";

const command = fileURLToPath(new URL("../../../packages/cli/bin/tenure.cjs", import.meta.url));
const world = newWorld();

function start(name: string, ...args: string[]) {
  const child = spawn(process.execPath, [command, name, "--log-format", "json", ...args], {
    env: { ...process.env, POD_NAME: "", KUBECONFIG: world.kubeconfig },
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += chunk));
  const events = () =>
    text
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as { event: string });
  const has = (event: string) => expect.poll(() => events().map((each) => each.event)).toContain(event);
  const exited = once(child, "exit");
  return { child, has, exited, lines: () => text.split("\n").filter((line) => line.startsWith("{")) };
}

it("run, with a restart, a failed check, a handover and a lost watchdog", { timeout: 60_000 }, async () => {
  const flags = ["--lease-lock-name", "schema", "--log-leader-every", "100ms"];
  const checks = ["--health", "exec:false", "--health-period", "200ms", "--health-threshold", "100"];
  const first = start("run", ...flags, "--id", "a", ...checks, "--", "sh", "-c", "sleep 1; exit 3");
  await first.has("child-restarting");
  await first.has("health");
  const second = start("run", ...flags, "--id", "b", "--", "sleep", "1000");
  await second.has("leader");
  first.child.kill("SIGTERM");
  await first.exited;
  await second.has("child-ready");
  second.child.kill("SIGTERM");
  await second.exited;
  const lines = [...first.lines(), ...second.lines()];
  expect(lines.flatMap(lineProblems)).toEqual([]);
  const events = lines.map((line) => JSON.parse(line).event);
  for (const event of [
    "started",
    "leading",
    "phase",
    "child-exited",
    "term-ended",
    "leader-changed",
    "stopped",
  ])
    expect(events).toContain(event);
});

it.each([
  ["elect", ["elect", "--lease-lock-name", "schema-elect", "--id", "a"], "leading"],
  [
    "sidecar",
    ["sidecar", "--lease-lock-name", "schema-sidecar", "--id", "a", "--status", "127.0.0.1:0"],
    "leading",
  ],
  [
    "shards",
    ["run", "--lease-lock-name", "schema-shards", "--id", "a", "--shards", "2", "--", "sleep", "1000"],
    "shard-started",
  ],
  [
    "permits",
    ["run", "--lease-lock-name", "schema-permits", "--id", "a", "--permits", "2", "--", "sleep", "1000"],
    "permit-started",
  ],
])("%s", { timeout: 60_000 }, async (_, [name = "", ...args], event) => {
  const { child, has, exited, lines } = start(name, ...args);
  await has(event);
  child.kill("SIGTERM");
  await exited;
  expect(lines().flatMap(lineProblems)).toEqual([]);
});
