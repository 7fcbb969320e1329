/** Every idiom of the documentation: a shutdown, a crash and a freeze of its leader. `npm run trials:library` does many more. */
import { expect, it } from "vitest";
import { idioms } from "./idioms.mjs";
import { noRedis } from "./redis.mjs";
import { type Fault, Replicas } from "./replicas.mjs";

if (noRedis) console.warn(`the recipe for BullMQ is not tested: ${noRedis}`);

it.each(idioms.filter(({ needsRedis }) => !(needsRedis && noRedis)))(
  "$name: the work of two replicas never overlaps",
  {
    timeout: 240_000,
  },
  async (idiom) => {
    const replicas = await Replicas.start(idiom);
    try {
      for (const fault of ["stop", "kill", "freeze"] satisfies Fault[]) await replicas.disturb(fault);
      const { overlaps, leaders } = replicas.judge();
      expect(overlaps).toEqual([]);
      expect(leaders.length).toBeGreaterThanOrEqual(4);
    } finally {
      await replicas.stop();
    }
  },
);
