/** What holds for a coordinated election on every API server that supports it: the server names the leader, and the candidates obey. */
import { randomUUID } from "node:crypto";
import { Election, LeaseLock, type Term } from "@tenure/election";
import { KubeClient, loadConfig } from "@tenure/kube";
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "./locks-target.ts";

const timings = { leaseDuration: "4s", renewDeadline: "3s", retryPeriod: "500ms", renewInterval: "500ms" };
const stops: (() => Promise<void>)[] = [];

interface Lease {
  spec: { holderIdentity?: string; preferredHolder?: string; strategy?: string; leaseTransitions?: number };
}

function world(kubeconfig: string) {
  const client = new KubeClient(() => loadConfig({ kubeconfig }));
  const name = `coordinated-${randomUUID().slice(0, 8)}`;
  const namespace = "default";
  stops.push(async () => client.close());
  const journal: string[] = [];
  const start = (identity: string, version: string, work?: (term: Term) => Promise<void>) => {
    const election = new Election({
      lock: new LeaseLock({ namespace, name, kubeconfig }),
      identity: `${name}-${identity}`,
      coordinated: { version },
      ...timings,
    });
    const errors: string[] = [];
    election.on("error", ({ error }) => void errors.push(error.message));
    const usual = async ({ signal }: Term) => {
      journal.push(`${identity} starts`);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      journal.push(`${identity} stops`);
    };
    const run = election.run(work ?? usual);
    run.catch((error) => void errors.push(error.message));
    const stop = () => election.stop();
    stops.push(stop);
    return { election, errors, stop };
  };
  const read = <T>(path: string) => client.request<T>({ method: "GET", path });
  const lease = () => read<Lease>(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`);
  const candidates = async () => {
    const path = `/apis/coordination.k8s.io/v1beta1/namespaces/${namespace}/leasecandidates`;
    const { items } = await read<{ items: { metadata: { name: string }; spec: { leaseName: string } }[] }>(
      path,
    );
    return items.filter(({ spec }) => spec.leaseName === name).map(({ metadata }) => metadata.name);
  };
  return { client, name, namespace, journal, start, lease, candidates };
}

/** @param kubeconfigOf called in each test */
export function coordinatedContract(kubeconfigOf: () => string): void {
  describe("a coordinated election", { timeout: 60_000 }, () => {
    afterEach(async () => {
      for (const stop of stops.splice(0).reverse()) await stop();
    });

    it("is led by the candidate that the API server names, which keeps the strategy and counts its terms", async () => {
      const { start, journal, lease, name } = world(kubeconfigOf());
      const a = start("a", "1.2.0");
      await eventually(() => journal.includes("a starts"), "a leads");
      expect(a.election.term?.token).toMatch(/^\d{20}$/);
      const { spec } = await lease();
      expect(spec).toMatchObject({
        holderIdentity: `${name}-a`,
        strategy: "OldestEmulationVersion",
        leaseTransitions: 1,
      });
      expect(a.errors).toEqual([]);
    });

    it("moves to a candidate with a lower version, whose work starts after the other one's has stopped", async () => {
      const { start, journal, lease } = world(kubeconfigOf());
      start("a", "1.2.0");
      await eventually(() => journal.includes("a starts"), "a leads");
      start("b", "1.1.0");
      await eventually(() => journal.includes("b starts"), "b leads");
      expect(journal).toEqual(["a starts", "a stops", "b starts"]);
      expect((await lease()).spec.preferredHolder).toBeUndefined();
    });

    it("stays with the leader if a candidate with a higher version joins", async () => {
      const { start, journal, candidates } = world(kubeconfigOf());
      const a = start("a", "1.2.0");
      await eventually(() => journal.includes("a starts"), "a leads");
      const b = start("b", "1.3.0");
      await eventually(async () => (await candidates()).length === 2, "both are known");
      await eventually(() => b.election.leader === a.election.identity, "b sees a");
      expect(journal).toEqual(["a starts"]);
    });

    it("passes on when the leader stops, and the LeaseCandidate is removed", async () => {
      const { start, journal, candidates, name } = world(kubeconfigOf());
      const a = start("a", "1.1.0");
      await eventually(() => journal.includes("a starts"), "a leads");
      start("b", "1.2.0");
      await eventually(async () => (await candidates()).length === 2, "both are known");
      await a.stop();
      expect(await candidates()).toEqual([`${name}-b`]);
      await eventually(() => journal.includes("b starts"), "b leads");
      expect(journal).toEqual(["a starts", "a stops", "b starts"]);
    });

    it("does not lead while an operator has paused it", async () => {
      const { start, journal, client, name, namespace } = world(kubeconfigOf());
      start("a", "1.1.0");
      await eventually(() => journal.includes("a starts"), "a leads");
      const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`;
      const annotate = (value: string | null) =>
        client.request({
          method: "PATCH",
          path,
          contentType: "application/merge-patch+json",
          body: { metadata: { annotations: { "tenure.dev/paused": value } } },
        });
      await annotate("true");
      await eventually(() => journal.includes("a stops"), "a stops");
      // The server names it again, for 5 s. It must not lead in this time.
      await eventually(async () => {
        const { spec } = await client.request<{
          spec: { holderIdentity: string; acquireTime?: string; renewTime: string };
        }>({ method: "GET", path });
        const isNamed = spec.holderIdentity.endsWith("-a") && spec.acquireTime === undefined;
        return isNamed && Date.now() - Date.parse(spec.renewTime) > 4_500;
      }, "the name has almost expired");
      expect(journal).toEqual(["a starts", "a stops"]);
      await annotate(null);
      await eventually(() => journal.length === 3, "a leads again");
    });
  });
}
