import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import repository from "../../vitest.config.ts";

/** What users install: the package from npm, the single binary, the image. Needs the network, and takes minutes. */
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  resolve: { ...repository.resolve },
  test: {
    include: ["test/release/*.test.ts"],
    // Each builds something large.
    maxWorkers: 1,
    expect: { poll: { timeout: 30_000 } },
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
});
