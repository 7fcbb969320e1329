/** What the page can break in a sandbox. No other API server has these paths. */
import { messageOf } from "@tenure/base";
import { KubeError } from "@tenure/kube";
import type { FaultSpec } from "@tenure/sandbox";
import { adminPath } from "@tenure/sandbox/internal";
import type { ClusterView } from "@tenure/ui";
import type { LockClient } from "../../elections/find.ts";

export type FaultChoice = ClusterView["faults"][number];

interface Choice extends FaultChoice {
  readonly spec: FaultSpec;
}

const choices: readonly Choice[] = [
  {
    id: "slow",
    label: "Slow API",
    text: "Every answer of the API server takes 500 ms longer, until you repair everything.",
    spec: { effect: { latencyMs: 500 } },
  },
  {
    id: "no-lease-writes",
    label: "Fail lease writes",
    text: "The API server closes the connection of every write to a Lease. Leaders stop their work before their lease expires, and nobody leads until you repair everything.",
    spec: { effect: "drop", verb: "update", resource: "leases" },
  },
  {
    id: "lose-answer",
    label: "Lose one answer",
    text: "The next write to a Lease is performed, but its answer is lost. Nothing should happen.",
    spec: { effect: "lose-answer", verb: "update", resource: "leases", times: 1 },
  },
  {
    id: "stall-watches",
    label: "Stall watches",
    text: "Watches stay open but silent, this page's too, until you repair everything. Candidates read the lock instead.",
    spec: { effect: "stall-watch" },
  },
];

const others: readonly FaultChoice[] = [
  {
    id: "restart",
    label: "Restart API",
    text: "The API server closes all connections and starts again with the same data.",
  },
  { id: "repair", label: "Repair everything", text: "All faults are removed." },
];

/** Undefined if the server is not a sandbox, or if the user is not its administrator. */
export async function faultsIn(
  client: LockClient,
): Promise<{ readonly faults: readonly FaultChoice[]; readonly active: readonly string[] } | undefined> {
  try {
    const path = `${adminPath}faults`;
    const { faults } = await client.request<{
      faults: readonly { readonly effect: unknown; readonly resource?: string }[];
    }>({
      method: "GET",
      path,
    });
    const active = faults.map(
      ({ effect, resource }) => `In force: ${JSON.stringify(effect)}${resource ? ` on ${resource}` : ""}`,
    );
    return { faults: [...choices.map(({ spec: _, ...choice }) => choice), ...others], active };
  } catch (error) {
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}

export async function injectFault(
  client: LockClient,
  what: string,
  target: string | undefined,
): Promise<{ readonly ok: boolean; readonly message: string }> {
  const chosen = choices.find(({ id }) => id === what);
  const [namespace, name] = (target ?? "").split("/", 2);
  try {
    // Only a sandbox may be broken, whatever the rights of the user are elsewhere.
    if ((await faultsIn(client)) === undefined)
      return { ok: false, message: "This cluster is not a sandbox." };
    if (chosen) await client.request({ method: "POST", path: `${adminPath}faults`, body: chosen.spec });
    else if (what === "repair") await client.request({ method: "DELETE", path: `${adminPath}faults` });
    else if (what === "restart") await client.request({ method: "POST", path: `${adminPath}restart` });
    else if (what === "delete-pod" && namespace && name && /^[a-z0-9.-]+$/.test(`${namespace}${name}`))
      await client.request({ method: "DELETE", path: `/api/v1/namespaces/${namespace}/pods/${name}` });
    else return { ok: false, message: "There is no such fault." };
    return { ok: true, message: "Done." };
  } catch (error) {
    return { ok: false, message: messageOf(error) };
  }
}
