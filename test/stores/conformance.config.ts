import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import repository from "../../vitest.config.ts";

/** The conformance suite of the API, on a sandbox that keeps its data in etcd. Locks and rights do not depend on the store. */
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  resolve: { ...repository.resolve },
  test: {
    include: ["apply", "concurrency", "delete", "lease", "list", "patch", "watch"].map(
      (name) => `test/conformance/${name}*.test.ts`,
    ),
    globalSetup: ["test/stores/conformance-setup.ts"],
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
