/**
 * The Deployments of the tutorials as they were published. The examples of this repository are the same manifests, with another
 * image and with a strategy whose rollouts end.
 */
import { readFileSync } from "node:fs";
import { loadAll } from "js-yaml";
import { record } from "./commands.ts";
import { type ApiObject, readyFor, type World } from "./healthy.ts";

interface PublishedDeployment extends ApiObject {
  spec: {
    strategy?: object;
    template: { metadata: { labels: Record<string, string> }; spec: { containers: { args?: string[] }[] } };
  };
}

function manifests(guide: string, ...files: string[]): ApiObject[] {
  return files.flatMap((file) => {
    const url = new URL(`../../../examples/${guide}/k8s/${file}.yaml`, import.meta.url);
    // js-yaml follows YAML 1.2, in which 0755 is a decimal number. kubectl reads it as an octal one.
    const text = readFileSync(url, "utf8").replaceAll(/: 0([0-7]{3})$/gm, ": 0o$1");
    return loadAll(text) as ApiObject[];
  });
}

function published(guide: string): PublishedDeployment {
  const [deployment] = manifests(guide, "deployment") as [PublishedDeployment];
  delete deployment.spec.strategy;
  // The published program has no flags: the name of the lock is in its source code.
  for (const container of deployment.spec.template.spec.containers) delete container.args;
  return deployment;
}

function podsOf({ metadata, spec }: PublishedDeployment, status: (index: number) => object): ApiObject[] {
  return ["aaaaa", "bbbbb", "ccccc"].map((suffix, index) => ({
    kind: "Pod",
    metadata: {
      name: `${metadata.name}-5d6f7c8b9-${suffix}`,
      labels: { ...spec.template.metadata.labels, "pod-template-hash": "5d6f7c8b9" },
    },
    spec: spec.template.spec,
    status: status(index),
  }));
}

/** Only the leader is Ready, because it writes /tmp/ready. */
export function leaderDemo(world: World, deployment = published("guide-readiness")): void {
  const holder = `${deployment.metadata.name}-5d6f7c8b9-aaaaa`;
  world.isEmpty = true;
  world.others = [
    ...manifests("guide-readiness", "rbac").map((object) => withNamespace(object, world.namespace)),
    deployment,
    ...podsOf(deployment, (index) => readyFor(300_000, index === 0)),
    ...manifests("guide-readiness", "service"),
    { kind: "Lease", metadata: { name: "example-leader-election" }, spec: record(holder) },
  ];
}

/** kubectl fills in the namespace of subjects. */
function withNamespace(object: ApiObject, namespace: string): ApiObject {
  const subjects = object.subjects as object[] | undefined;
  return { ...object, ...(subjects && { subjects: subjects.map((each) => ({ ...each, namespace })) }) };
}

/** Only the pod that a person names in a ConfigMap is Ready. There is no lock at all. */
export function singleActive(world: World): void {
  const deployment = published("guide-configmap");
  world.isEmpty = true;
  world.others = [
    ...manifests("guide-configmap", "leader-config", "check-leader-script"),
    deployment,
    ...podsOf(deployment, (index) => readyFor(300_000, index === 0)),
    ...manifests("guide-configmap", "service"),
  ];
}

/** As the guide of this repository ships it. */
export function shippedLeaderDemo(world: World): void {
  const [shipped] = manifests("guide-readiness", "deployment") as [PublishedDeployment];
  leaderDemo(world, shipped);
}
