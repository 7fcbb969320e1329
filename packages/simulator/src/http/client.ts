/** The real client of one process, over the simulated network. */
import { KubeClient } from "@tenure/kube";
import type { Connection } from "../connection.ts";
import type { Machine } from "../machine.ts";
import type { Scheduler } from "../scheduler.ts";
import type { HttpApi } from "./api.ts";
import { simulatedHttp } from "./network.ts";
import { type CredentialKind, podOf } from "./pod.ts";

export interface ClientParts {
  readonly id: string;
  readonly machine: Machine<Connection>;
  readonly scheduler: Scheduler;
  readonly api: HttpApi;
  readonly credentials: CredentialKind;
}

export function simulatedClient({ id, machine, scheduler, api, credentials }: ClientParts): KubeClient {
  const { clock, link, random, defer } = machine;
  const { platform, load } = podOf({
    kind: credentials,
    clock,
    http: simulatedHttp({ api, link, scheduler, random, defer, writer: id }),
    random,
    accounts: api.accounts,
    slowMs: () => link.slowCredentialsMs,
    sleep: (ms) => new Promise((resolve) => scheduler.after(ms, () => defer(resolve))),
  });
  return new KubeClient(load, { platform });
}
