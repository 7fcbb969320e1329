// @ts-check
/**
 * Every idiom of the documentation through many handovers, crashes and freezes, with a witness that looks for work of two replicas at
 * the same time: `npm run trials:library -- --rounds 200 --idioms run,nest`.
 */
import { parseArgs } from "node:util";
import { idioms } from "./idioms.mjs";
import { noRedis } from "./redis.mjs";
import { Replicas } from "./replicas.mjs";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "200" }, idioms: { type: "string" } },
});
const rounds = Number(values.rounds);
const names = values.idioms?.split(",") ?? idioms.map(({ name }) => name);
const unknown = names.filter((name) => !idioms.some((idiom) => idiom.name === name));
if (!(Number.isInteger(rounds) && rounds > 0) || unknown.length > 0) {
  const known = idioms.map(({ name }) => name).join(", ");
  console.error(
    unknown.length > 0
      ? `--idioms must name some of ${known}, but is ${unknown.join(",")}`
      : `--rounds must be a whole number of 1 or more, but is ${values.rounds}`,
  );
  process.exit(2);
}

/** @type {import("./replicas.mjs").Fault[]} */
const faults = ["stop", "kill", "stop", "freeze"];
let failures = 0;
for (const idiom of idioms.filter(({ name }) => names.includes(name))) {
  if (idiom.needsRedis && noRedis) {
    console.log(`${idiom.name}: skipped, because ${noRedis}`);
    continue;
  }
  const replicas = await Replicas.start(idiom);
  try {
    for (let round = 0; round < rounds; round += 1)
      await replicas.disturb(/** @type {import("./replicas.mjs").Fault} */ (faults[round % faults.length]));
    const { overlaps, leaders } = replicas.judge();
    console.log(`${idiom.name}: ${rounds} rounds, ${leaders.length} leaders, ${overlaps.length} overlaps`);
    for (const overlap of overlaps) console.log(`  ${overlap}`);
    if (overlaps.length > 0) failures += 1;
  } catch (error) {
    failures += 1;
    console.log(`${idiom.name}: ${error instanceof Error ? error.message : error}`);
  } finally {
    await replicas.stop();
  }
}
process.exit(failures > 0 ? 1 : 0);
