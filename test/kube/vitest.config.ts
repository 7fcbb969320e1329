import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import repository from "../../vitest.config.ts";

/** What must pass on a real kube-apiserver: the conformance suites, traffic, manifests and guides, and the tests of this folder. */
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  resolve: { ...repository.resolve },
  test: {
    include: ["conformance", "kube", "processes/traffic", "processes/manifests", "processes/guides"].map(
      (folder) => `test/${folder}/**/*.test.ts`,
    ),
    globalSetup: ["test/kube/global-setup.ts"],
    // An API server that starts takes seconds, on a busy machine many.
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
