import { mergeConfig } from "vitest/config";
import base from "./vitest.config.ts";

/**
 * The tests of the doctor on a kube-apiserver of their own: they create a hundred workloads that no controller may touch, and the
 * conformance suite runs controllers.
 */
const config = mergeConfig(base, {});
config.test.include = ["test/processes/operate/doctor*.test.ts"];
export default config;
