import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import repository from "../../vitest.config.ts";

/** The tests of the locks on real PostgreSQL and etcd servers. */
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  resolve: { ...repository.resolve },
  test: {
    include: ["test/stores/**/*.test.ts"],
    expect: { poll: { timeout: 20_000 } },
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
