/** A flag overrides the environment, which overrides the file, which overrides the default. All problems are reported at once. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeProblems } from "@tenure/base";
import { Command, Option } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CliError } from "../errors.ts";
import { fakePlatform } from "../testing/fake-platform.ts";
import { addConnectionOptions } from "./connection-options.ts";
import { addElectionOptions } from "./election-options.ts";
import { addConfigOption, readSettings } from "./settings.ts";

let home: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "tenure-settings-"));
});
afterAll(() => rm(home, { recursive: true, force: true }));

async function settled(args: string[], env: Record<string, string> = {}, yaml?: string) {
  const command = new Command("test").exitOverride().argument("[command...]");
  addConnectionOptions(command, "elect");
  addElectionOptions(command);
  addConfigOption(command);
  command.addOption(new Option("--no-colour")).addOption(new Option("--tag <tags...>"));
  let file: string[] = [];
  if (yaml !== undefined) {
    const path = join(home, "c.yaml");
    await writeFile(path, yaml);
    file = ["--config", path];
  }
  command.parse([...file, ...args], { from: "user" });
  return readSettings<Record<string, unknown>>(command, fakePlatform("", { home, env }));
}

/** Paths differ from run to run. */
const messages = ({ problems, nameOf }: Awaited<ReturnType<typeof settled>>) =>
  describeProblems(problems, nameOf).map((problem) => problem.replace(`${home}/`, ""));

it("does not take the variable that tenure run sets for its child for a flag", async () => {
  const command = new Command("test").addOption(new Option("--election <name>"));
  command.parse([], { from: "user" });
  const platform = fakePlatform("", { home, env: { TENURE_ELECTION: "prod/billing" } });
  expect((await readSettings<{ election?: string }>(command, platform)).flags.election).toBeUndefined();
});

describe("where a value comes from", () => {
  const yaml = "id: from-file";
  const env = { TENURE_ID: "from-environment" };

  it.each([
    ["a flag first", ["--id", "from-flag"], env, yaml, "from-flag"],
    ["then the environment", [], env, yaml, "from-environment"],
    ["then the file", [], {}, yaml, "from-file"],
    ["an empty variable counts as not set", [], { TENURE_ID: "" }, yaml, "from-file"],
    ["else nothing", [], {}, "# all of it is commented out\n\n", undefined],
  ])("%s", async (_name, args, environment, text, expected) => {
    const { flags, problems } = await settled(args, environment, text);
    expect(problems).toEqual([]);
    expect(flags.id).toBe(expected);
  });

  it("a default is overridden by all of them", async () => {
    expect((await settled([])).flags.preset).toBe("standard");
    expect((await settled([], {}, "preset: low-load")).flags.preset).toBe("low-load");
    expect((await settled([], { TENURE_PRESET: "fast-failover" }, "preset: low-load")).flags.preset).toBe(
      "fast-failover",
    );
  });

  it("a flag wins even if its value is the default", async () => {
    const { flags } = await settled(["--preset", "standard"], { TENURE_PRESET: "low-load" });
    expect(flags.preset).toBe("standard");
  });

  it("the environment may name the file", async () => {
    const path = join(home, "by-env.yaml");
    await writeFile(path, "id: x");
    expect((await settled([], { TENURE_CONFIG: path })).flags.id).toBe("x");
  });
});

describe("kinds of values", () => {
  it("booleans", async () => {
    expect((await settled([], { TENURE_ANNOUNCE: "1" })).flags.announce).toBe(true);
    expect((await settled([], {}, "announce: no")).flags.announce).toBe(false);
    expect((await settled([], { TENURE_ANNOUNCE: "false" }, "announce: yes")).flags.announce).toBe(false);
    expect((await settled([], {}, "no-colour: true")).flags.colour).toBe(false);
    expect((await settled([], { TENURE_NO_COLOUR: "no" })).flags.colour).toBe(true);
  });

  it("lists", async () => {
    expect((await settled([], { TENURE_TAG: "a,b" })).flags.tag).toEqual(["a", "b"]);
    expect((await settled([], {}, "tag: [a, b]")).flags.tag).toEqual(["a", "b"]);
    expect((await settled([], {}, "tag: a")).flags.tag).toEqual(["a"]);
  });

  it("text is never converted to a number, a date or null", async () => {
    const { flags } = await settled([], {}, "id: 007\nlease-lock-name: 2026-01-02\ncontext: null");
    expect([flags.id, flags.leaseLockName, flags.context]).toEqual(["007", "2026-01-02", "null"]);
  });

  it("the command with its arguments", async () => {
    expect((await settled([], {}, "command: [node, worker.js, --fast]")).flags.command).toEqual([
      "node",
      "worker.js",
      "--fast",
    ]);
  });
});

describe("problems", () => {
  it("of the file: every unknown key and every wrong value, with a suggestion", async () => {
    const outcome = await settled(
      [],
      {},
      "lease-duraton: 15s\nlease_lock_name: x\nzebra: 1\nannounce: maybe\nid: [a]\npreset: {a: b}\ncommand: sleep\ncontext:\n",
    );
    expect(messages(outcome)).toEqual([
      "c.yaml: lease-duraton is not a flag of this command; did you mean lease-duration?",
      "c.yaml: lease_lock_name is not a flag of this command; did you mean lease-lock-name?",
      "c.yaml: zebra is not a flag of this command; see --help for all flags",
      'c.yaml: context must not be empty, but is ""',
      'c.yaml: id must be a single value, but is ["a"]',
      'c.yaml: preset must be a single value, but is {"a":"b"}',
      'c.yaml: announce must be true or false, but is "maybe"',
      'c.yaml: command must be a list of values, but is "sleep"',
    ]);
  });

  it("of the environment", async () => {
    expect(messages(await settled([], { TENURE_ANNOUNCE: "maybe" }))).toEqual([
      'TENURE_ANNOUNCE must be true or false, but is "maybe"',
    ]);
  });

  it.each([
    ["missing", undefined, /^Cannot read the --config file .*absent\.yaml: it does not exist$/],
    ["not YAML", "a: [", /^Cannot use .*: it is not YAML: /],
    ["a list", "- a", /it must contain lines like `lease-duration: 15s`$/],
  ])("a file that is %s", async (_name, text, message) => {
    const args = text === undefined ? ["--config", join(home, "absent.yaml")] : [];
    const failed = await settled(args, {}, text).catch((error) => error);
    expect(failed).toBeInstanceOf(CliError);
    expect(failed.exitCode).toBe(2);
    expect(failed.message).toMatch(message);
  });
});

describe("two flags with the same meaning", () => {
  it.each([
    [["--namespace", "a"], {}],
    [["-n", "a"], {}],
    [["--lease-lock-namespace", "a"], {}],
    [["--lease-lock-namespace", "a", "-n", "a"], {}],
    [[], { TENURE_LEASE_LOCK_NAMESPACE: "a" }],
    [[], { TENURE_NAMESPACE: "a" }],
    [["-n", "a"], { TENURE_LEASE_LOCK_NAMESPACE: "b" }],
    [["--lease-lock-namespace", "a"], { TENURE_NAMESPACE: "b" }],
  ])("%j %j", async (args, env) => {
    const { flags, problems } = await settled(args, env as Record<string, string>);
    expect(problems).toEqual([]);
    expect(flags.namespace).toBe("a");
  });

  it("are rejected if they differ", async () => {
    expect(messages(await settled(["--lease-lock-namespace", "a", "-n", "b"]))).toEqual([
      '--lease-lock-namespace must equal --namespace, which means the same ("b"), but is "a"',
    ]);
  });
});

describe("the name of a setting", () => {
  it("is the one that the user wrote", async () => {
    const { nameOf } = await settled(["--id", "x"], { TENURE_PRESET: "low-load" }, "lease-duration: 15s");
    expect(
      ["identity", "preset", "leaseDurationMs"].map(nameOf).map((name) => name.replace(`${home}/`, "")),
    ).toEqual(["--id", "TENURE_PRESET", "c.yaml: lease-duration"]);
  });

  it.each([
    [[], {}, "--lease-lock-namespace"],
    [["-n", "x"], {}, "--namespace"],
    [["--lease-lock-namespace", "x"], {}, "--lease-lock-namespace"],
    [[], { TENURE_LEASE_LOCK_NAMESPACE: "x" }, "TENURE_LEASE_LOCK_NAMESPACE"],
    [[], { TENURE_NAMESPACE: "x" }, "TENURE_NAMESPACE"],
  ])("namespace with %j %j is %s", async (args, env, name) => {
    expect((await settled(args, env as Record<string, string>)).nameOf("namespace")).toBe(name);
  });
});
