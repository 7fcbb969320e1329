import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// Tests run on the sources, so that a test never passes on a stale build.
const packages = [
  "core",
  "kube",
  "election",
  "supervisor",
  "traffic",
  "stream",
  "sandbox",
  "cli",
  "simulator",
];

/** Whole systems of real processes: `npm run test:processes`. */
export const processTests = ["run", "operate", "guides", "manifests", "traffic", "stream", "demo"].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);

export default defineConfig({
  resolve: {
    alias: [
      {
        find: "@tenure/sandbox/internal",
        replacement: fileURLToPath(new URL("./packages/sandbox/src/internal.ts", import.meta.url)),
      },
      ...packages.map((name) => ({
        find: `@tenure/${name}`,
        replacement: fileURLToPath(new URL(`./packages/${name}/src/index.ts`, import.meta.url)),
      })),
    ],
  },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts", "examples/**/*.test.ts"],
    // Most tests wait more than they work; by default one core is left idle.
    maxWorkers: 2,
    // A deadline, not a pace: a test waits for what it expects, and a busy machine may take its time.
    testTimeout: 30_000,
    exclude: ["**/node_modules/**", "test/kube/**", ...processTests],
  },
});
