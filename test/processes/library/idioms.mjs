// @ts-check
/** Every way to use the library that the documentation shows: the idioms of the docs, and the recipes in examples. */
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

export const root = fileURLToPath(new URL("../../..", import.meta.url));

/**
 * @typedef {object} Idiom
 * @property {string} name
 * @property {string} program path from the root of the repository
 * @property {boolean} [needsRedis]
 * @property {boolean} [needsObjects] the harness has to change ConfigMaps, so that there is something to do
 * @property {boolean} [endsBySignal] the framework ends the process with the signal that it got, after it has stopped
 * @property {() => Promise<string>} [build] compiles the program and returns its path
 */

/** @param {string} name */
const ofDocs = (name) => ({ name, program: `test/processes/library/programs/${name}.mjs` });

/** @type {Idiom[]} */
export const idioms = [
  ofDocs("run"),
  ofDocs("terms"),
  ofDocs("timer"),
  ofDocs("worker"),
  { name: "cron", program: "examples/cron/cron.mjs" },
  { name: "express", program: "examples/express/express.mjs" },
  { name: "fastify", program: "examples/fastify/fastify.mjs" },
  { name: "nest", program: "examples/nest/main.ts", build: buildNest, endsBySignal: true },
  { name: "bullmq", program: "examples/bullmq/bullmq.mjs", needsRedis: true },
  { name: "controller", program: "examples/controller/controller.mjs", needsObjects: true },
];

/** NestJS needs decorators, which Node does not have. */
async function buildNest() {
  const folder = `${root}node_modules/.cache/tenure-nest`;
  await mkdir(folder, { recursive: true });
  const bundle = await rolldown({
    input: `${root}examples/nest/main.ts`,
    platform: "node",
    external: [/^node:/, /^@nestjs\//, /^@tenure\//, "reflect-metadata"],
    tsconfig: `${root}examples/nest/tsconfig.json`,
  });
  await bundle.write({ dir: folder, format: "esm", entryFileNames: "main.mjs" });
  await bundle.close();
  return `${folder}/main.mjs`;
}
