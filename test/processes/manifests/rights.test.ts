/**
 * The Role has exactly the rights that are needed: with it the election and the traffic mode work, and without any one of its
 * verbs some request is denied.
 */
import { Election, LeaseLock } from "@tenure/election";
import { KubeClient, loadConfig } from "@tenure/kube";
import { endpointSlice, type Gate, leaderConfigMap, podLabel } from "@tenure/traffic";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { objectsFor } from "../../../packages/cli/src/commands/manifests/objects.ts";
import type { TrafficMode } from "../../../packages/cli/src/commands/manifests/options.ts";
import type { Rule } from "../../../packages/cli/src/commands/manifests/rules.ts";
import { connectForLocks, eventually, type LockTarget } from "../../conformance/locks-target.ts";
import type { Body } from "../../conformance/target.ts";
import { collectionOf } from "./resources.ts";

const name = "billing";
const timings = { leaseDuration: "3s", renewDeadline: "2s", retryPeriod: "300ms", renewInterval: "300ms" };
let to: LockTarget;

beforeAll(async () => {
  to = await connectForLocks();
});
afterAll(() => to.close());

function manifests(traffic: TrafficMode, namespace: string): Body[] {
  return objectsFor({
    name,
    namespace,
    image: "x:1",
    traffic,
    command: ["x"],
    ...(traffic !== "none" && { port: 80 }),
  });
}

function rulesOf(traffic: TrafficMode): Rule[] {
  return manifests(traffic, "x").find(({ kind }) => kind === "Role").rules;
}

async function create(object: Body): Promise<void> {
  const { status, body } = await to.target.request("POST", collectionOf(object), object);
  if (status !== 201) throw new Error(`cannot create ${object.kind}: ${JSON.stringify(body)}`);
}

/** What a candidate that crashed two hours ago left behind. A leader removes it. */
function forgottenCandidate(namespace: string): Body {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: {
      name: `${name}.candidate.gone`,
      namespace,
      labels: { "tenure.dev/candidate-of": name },
    },
    spec: { renewTime: `${new Date(Date.now() - 2 * 3_600_000).toISOString().slice(0, -1)}000Z` },
  };
}

/** A namespace with the objects of the manifests, two pods, and an account with these rules. */
async function stage(traffic: TrafficMode, rules: readonly Rule[]) {
  const namespace = await to.target.namespace();
  const objects = manifests(traffic, namespace);
  for (const object of objects) if (["Service", "ConfigMap"].includes(object.kind)) await create(object);
  const { template } = objects.find(({ kind }) => kind === "Deployment").spec;
  for (const pod of ["a", "b"]) {
    const { labels } = template.metadata;
    const spec = { containers: [{ name: "app", image: "x:1" }], automountServiceAccountToken: false };
    await to.target.request("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, {
      metadata: { name: "default" },
    });
    const made = await to.target.request("POST", `/api/v1/namespaces/${namespace}/pods`, {
      metadata: { name: pod, labels },
      spec,
    });
    if (made.status !== 201) throw new Error(`cannot create pod ${pod}: ${JSON.stringify(made.body)}`);
  }
  await create(forgottenCandidate(namespace));
  const kubeconfig = await to.serviceAccount(namespace, rules);
  await untilGranted(kubeconfig, namespace, rules);
  return { namespace, kubeconfig };
}

/** kube-apiserver sees new roles with a delay, through watches. */
async function untilGranted(kubeconfig: string, namespace: string, rules: readonly Rule[]): Promise<void> {
  const client = new KubeClient(() => loadConfig({ kubeconfig }));
  const isGranted = async ({ apiGroups, resources, resourceNames, verbs }: Rule) => {
    const resourceAttributes = {
      namespace,
      verb: verbs[0],
      group: apiGroups[0],
      resource: resources[0],
      ...(resourceNames && { name: resourceNames[0] }),
    };
    const review = await client.request<Body>({
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      body: {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes },
      },
    });
    return review.status.allowed === true;
  };
  await eventually(
    async () => (await Promise.all(rules.map(isGranted))).every(Boolean),
    "the rights are granted",
  );
  client.close();
}

function gateFor(traffic: TrafficMode, client: KubeClient, namespace: string, pod: string): Gate | undefined {
  const common = { client, namespace, pod, election: name, openTimeoutMs: 2_000, closeTimeoutMs: 2_000 };
  switch (traffic) {
    case "label":
      return podLabel(common);
    case "endpointslice":
      return endpointSlice({ ...common, service: name, address: pod === "a" ? "10.0.0.1" : "10.0.0.2" });
    case "configmap":
      return leaderConfigMap({ ...common, name: `${name}-leader` });
    default:
      return undefined;
  }
}

/** Replica a leads, serves, renews, tidies up and steps down, then b does. Returns the requests that were denied. */
async function handover(traffic: TrafficMode, rules: readonly Rule[]): Promise<string[]> {
  const { namespace, kubeconfig } = await stage(traffic, rules);
  const refused: string[] = [];
  const stop = new AbortController();
  const done: string[] = [];
  const replicas = ["a", "b"].map((identity) => {
    const client = new KubeClient(() => loadConfig({ kubeconfig }));
    const election = new Election({
      lock: new LeaseLock({ namespace, name, kubeconfig }),
      identity,
      ...timings,
    });
    const gate = gateFor(traffic, client, namespace, identity);
    const refuse = (error: unknown) => void refused.push(`${identity}: ${(error as Error).message}`);
    election.on("error", ({ error }) => refuse(error));
    election.on("renewed", () => void done.push(`${identity} renewed`));
    election.on("leader-changed", ({ leader }) => void done.push(`${identity} sees ${leader}`));
    const run = async () => {
      await gate?.prepare?.();
      await election.run(
        async (term) => {
          await gate?.open(term);
          gate?.renewed?.(term);
          done.push(`${identity} serves`);
          await new Promise((resolve) => term.signal.addEventListener("abort", resolve, { once: true }));
          await gate?.close();
        },
        { signal: stop.signal },
      );
    };
    return { election, client, run: () => run().catch(refuse) };
  }) as [Replica, Replica];
  const [a, b] = replicas;
  const reaches = (...what: string[]) =>
    eventually(() => refused.length > 0 || what.every((each) => done.includes(each)), what.join(", "));
  const running = [a.run()];
  await reaches("a serves", "a renewed");
  const forgotten = forgottenCandidate(namespace);
  const path = `${collectionOf(forgotten)}/${forgotten.metadata.name}`;
  const isTidy = async () => (await to.target.request("GET", path)).status === 404;
  await eventually(async () => refused.length > 0 || (await isTidy()), "a tidies up");
  running.push(b.run());
  await reaches("b sees a");
  if (refused.length === 0) a.election.stepDown({ cooldown: "60s" });
  await reaches("b serves", "b renewed");
  stop.abort();
  await Promise.all(running);
  for (const { client } of replicas) client.close();
  return refused;
}

interface Replica {
  readonly election: Election;
  readonly client: KubeClient;
  run(): Promise<unknown>;
}

/** Each rule without each of its verbs. The rules of the election are tested only once, without traffic. */
function reduced(traffic: TrafficMode): { without: string; rules: Rule[] }[] {
  const rules = rulesOf(traffic);
  const own = traffic === "none" ? rules : rules.slice(rulesOf("none").length);
  return own
    .flatMap((rule) =>
      rule.verbs.map((verb) => ({
        without: `${verb} ${rule.resources[0]}`,
        rules: rules.map((each) =>
          each === rule ? { ...each, verbs: each.verbs.filter((v) => v !== verb) } : each,
        ),
      })),
    )
    .map(({ without, rules: left }) => ({ without, rules: left.filter(({ verbs }) => verbs.length > 0) }));
}

describe.each(["none", "label", "endpointslice", "configmap"] as const)("--traffic %s", (traffic) => {
  test("the Role is sufficient for an election with a handover", async () => {
    expect(await handover(traffic, rulesOf(traffic))).toEqual([]);
  });

  test.each(reduced(traffic))("the Role is not sufficient without $without", async ({ without, rules }) => {
    const refused = await handover(traffic, rules);
    const [verb, resource] = without.split(" ");
    expect(refused.join("\n")).toContain(`Cannot ${verb} ${resource}`);
  });
});

test("--traffic ready-file needs no more rights than the election", () => {
  expect(rulesOf("ready-file")).toEqual(rulesOf("none"));
});
