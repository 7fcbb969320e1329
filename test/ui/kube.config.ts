import { mergeConfig } from "vitest/config";
import base from "./vitest.config.ts";

/** The same tests of replicas and rights on a real kube-apiserver. */
const config = mergeConfig(base, { test: { globalSetup: ["test/kube/global-setup.ts"] } });
config.test.include = ["live", "rights", "in-cluster"].map((name) => `test/ui/${name}.test.ts`);
export default config;
