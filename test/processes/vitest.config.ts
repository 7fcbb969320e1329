import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import repository from "../../vitest.config.ts";

/** The command, the demo, the guides and the manifests, as people run them: real processes on an embedded sandbox. */
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  resolve: { ...repository.resolve },
  test: {
    include: ["test/processes/**/*.test.ts"],
    maxWorkers: 2,
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
