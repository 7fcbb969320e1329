import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL(".", import.meta.url));

export default defineConfig({
  resolve: {
    // Tests run on the sources, so that a test never passes on a stale build.
    alias: [
      { find: /^@tenure\/([a-z]+)$/, replacement: `${root}packages/$1/src/index.ts` },
      { find: /^@tenure\/([a-z]+)\/([a-z-]+)$/, replacement: `${root}packages/$1/src/$2.ts` },
    ],
  },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts", "examples/**/*.test.ts"],
    // Most tests wait more than they work; by default one core is left idle.
    maxWorkers: 2,
    // Deadlines, not a pace: a test waits for what it expects, and a busy machine may take its time.
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 30_000,
    // Slower suites have a configuration of their own.
    exclude: ["**/node_modules/**", "test/kube/**", "test/processes/**", "test/stores/**", "test/ui/**"],
  },
});
