// @ts-check
// Loaded with `node --import`: elections of the program have a lease of 3 s, so that a crash or a freeze costs a test seconds.
import { register } from "node:module";

register("./timings-hooks.mjs", import.meta.url);
