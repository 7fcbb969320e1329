/** Runs a component on one replica at a time, by tenure's own election. */
import { asError, first } from "@tenure/base";
import { Election, LeaseLock, type Term, type TimingOptions } from "@tenure/election";
import type { KubeClient } from "@tenure/kube";
import { EventRecorder } from "../client/event-recorder.ts";
import { Informers } from "../client/informers.ts";
import { hasCode } from "../client/writes.ts";
import type { Controller, ControllerContext } from "../controllers/controller.ts";
import { type Platform, systemPlatform } from "../platform.ts";
import { fencedClient } from "./fenced-client.ts";

export interface ElectedOptions {
  /** For everything except the lock. */
  client: KubeClient;
  /** For the lock, so that no other request delays a renewal. @default client */
  lockClient?: KubeClient | undefined;
  /** Different for every process. */
  identity: string;
  /** Ends the run: the work stops, then the lock is released. */
  signal: AbortSignal;
  /** @default those of a standard election */
  timings?: TimingOptions | undefined;
  /** A request, a watch or the work for an object failed. All are retried. */
  onError?: ((error: Error) => void) | undefined;
  /** This process starts or stops leading. */
  onLeading?: ((isLeading: boolean) => void) | undefined;
  /** @default the machine's */
  platform?: Platform | undefined;
}

/** @param lock the name of the Lease in kube-system */
export async function runElected(
  lock: string,
  controllers: readonly Controller[],
  options: ElectedOptions,
): Promise<void> {
  const { client, lockClient = client, identity, signal, timings = {}, onError, onLeading } = options;
  const { platform = systemPlatform } = options;
  const election = new Election({
    ...timings,
    lock: new LeaseLock({ namespace: "kube-system", name: lock, client: lockClient }),
    identity,
    // Its account has rights on this one Lease only.
    register: false,
    // The fence asks the clock before every write. Ending the process would end an API server in it too.
    onOverrun: "report",
    // When the work of a term fails to start, this process is as good as any other to try again.
    cooldown: "0s",
  });
  election.on("error", ({ error }) => onError?.(error));
  await election.run(
    async (term) => {
      onLeading?.(true);
      try {
        await runTerm(term, controllers, client, platform, onError);
      } finally {
        onLeading?.(false);
      }
    },
    { signal },
  );
}

async function runTerm(
  term: Term,
  controllers: readonly Controller[],
  unfenced: KubeClient,
  platform: Platform,
  report: (error: Error) => void = () => {},
): Promise<void> {
  const client = fencedClient(unfenced, term);
  const onError = (error: unknown) => {
    // A conflict only says that a copy was behind. The work is repeated with the next one.
    if (!term.signal.aborted && !hasCode(error, "Conflict")) report(asError(error));
  };
  const informers = new Informers({ client, platform, onError });
  const recorders = new Map<string, EventRecorder>();
  const recorder = (component: string) => {
    const known = recorders.get(component) ?? new EventRecorder({ client, platform, component });
    recorders.set(component, known);
    return known;
  };
  const context: ControllerContext = { client, platform, informers, recorder, onError };
  const queues = controllers.map((controller) => controller(context));
  const following = informers.run(term.signal);
  // A term never decides on half a copy.
  const cause = await first(platform.clock, {
    synced: informers.synced(),
    ended: following,
    aborted: term.signal,
  });
  if (cause === "synced") await Promise.all(queues.map((queue) => queue.run(term.signal)));
  await following;
}
