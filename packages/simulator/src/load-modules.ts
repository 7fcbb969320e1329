/**
 * Loads every module that the client imports when it first needs it. Loading takes real time, so a history that does it is not
 * repeatable.
 */
import { systemClock } from "@tenure/base";
import { Accounts } from "./http/accounts.ts";
import { credentialKinds, podOf } from "./http/pod.ts";
import { drawPlan } from "./plan.ts";
import { Random } from "./random.ts";
import { simulate } from "./simulation.ts";

export async function loadModules(): Promise<void> {
  for (const kind of credentialKinds) {
    const { load } = podOf({
      kind,
      clock: systemClock,
      http: undefined as never,
      random: new Random(1),
      accounts: new Accounts(),
      slowMs: () => 0,
      sleep: () => Promise.resolve(),
    });
    // The simulated plugin may fail. Its module is loaded then, too.
    await load().then(
      ({ credentials }) => credentials.headers(),
      () => {},
    );
  }
  // These histories load what requests and watches need.
  for (let seed = 0; seed < 100; seed++)
    if ((await simulate(drawPlan(seed, "wide"))).terms.tenure > 0) return;
}
