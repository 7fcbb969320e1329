import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL(".", import.meta.url));

/** Their tests replace modules, or parts of the process. */
const isolated = ["base", "election", "stream", "supervisor"].map(
  (name) => `packages/${name}/src/**/*.test.ts`,
);
// Slower suites have a configuration of their own.
const excluded = [
  "**/node_modules/**",
  "test/kube/**",
  "test/processes/**",
  "test/release/**",
  "test/stores/**",
  "test/ui/**",
];

export default defineConfig({
  resolve: {
    // Tests run on the sources, so that a test never passes on a stale build.
    alias: [
      { find: /^@tenure\/([a-z]+)$/, replacement: `${root}packages/$1/src/index.ts` },
      { find: /^@tenure\/([a-z]+)\/([a-z-]+)$/, replacement: `${root}packages/$1/src/$2.ts` },
    ],
  },
  test: {
    // Most tests wait more than they work; by default one core is left idle.
    maxWorkers: 3,
    // Deadlines, not a pace: a test waits for what it expects, and a busy machine may take its time.
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 30_000,
    projects: [
      {
        extends: true,
        test: {
          // A process and fresh modules for every file would cost more than the tests themselves.
          name: "shared",
          isolate: false,
          include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts", "examples/**/*.test.ts"],
          exclude: [...excluded, ...isolated],
        },
      },
      { extends: true, test: { name: "isolated", include: isolated } },
    ],
  },
});
