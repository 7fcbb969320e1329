/**
 * The tests of a mutation run. One worker process stays warm and repeats tests for many mutants; see runner.mjs. The run is
 * described in the file plan.json of the folder $TENURE_MUTATION, which main.mjs writes.
 */
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import base from "../../vitest.config.ts";
import { instrument } from "./mutants.mjs";

const root = new URL("../..", import.meta.url).pathname;
const plan = JSON.parse(readFileSync(`${process.env.TENURE_MUTATION}/plan.json`, "utf8"));

const switches = {
  name: "tenure:mutants",
  enforce: "pre",
  transform(code, id) {
    const path = relative(root, id);
    const ids = plan.ids[path];
    return ids && { code: instrument(path, code, (index) => ids[index] ?? undefined), map: null };
  },
};

export default {
  root,
  resolve: base.resolve,
  plugins: [switches],
  test: {
    expect: base.test.expect,
    testTimeout: base.test.testTimeout,
    runner: new URL("runner.mjs", import.meta.url).pathname,
    include: [plan.testFiles[0]],
    passWithNoTests: true,
    pool: "forks",
    isolate: false,
    maxWorkers: 1,
    teardownTimeout: 1_000,
  },
};
