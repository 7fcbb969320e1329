import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import repository from "../../vitest.config.ts";

/** The tests that run on a real kube-apiserver: conformance, traffic, manifests, guides, and those of this folder. */
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  resolve: { ...repository.resolve },
  test: {
    include: ["conformance", "kube", "processes/traffic", "processes/manifests", "processes/guides"].map(
      (folder) => `test/${folder}/**/*.test.ts`,
    ),
    globalSetup: ["test/kube/global-setup.ts"],
    // An API server needs several seconds to start, and more on a busy machine.
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
