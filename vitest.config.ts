import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// Tests run on the sources, so that a test never passes on a stale build.
const packages = ["core", "kube", "election", "sandbox", "cli", "simulator"];

export default defineConfig({
  resolve: {
    alias: packages.map((name) => ({
      find: `@tenure/${name}`,
      replacement: fileURLToPath(new URL(`./packages/${name}/src/index.ts`, import.meta.url)),
    })),
  },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts", "examples/**/*.test.ts"],
    exclude: ["**/node_modules/**", "test/kube/**"],
  },
});
