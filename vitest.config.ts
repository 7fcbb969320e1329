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

export default defineConfig({
  resolve: {
    alias: packages.map((name) => ({
      find: `@tenure/${name}`,
      replacement: fileURLToPath(new URL(`./packages/${name}/src/index.ts`, import.meta.url)),
    })),
  },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts", "examples/**/*.test.ts"],
    // A deadline, not a pace: a test waits for what it expects, and a busy machine may take its time.
    testTimeout: 30_000,
    exclude: ["**/node_modules/**", "test/kube/**"],
  },
});
