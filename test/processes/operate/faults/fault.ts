import type { Flaw } from "../flawed-server.ts";
import type { Container, World } from "../healthy.ts";

/** How to cause a fault, and what the doctor must report. Each is tested alone, and nothing else may be reported. */
export interface Fault {
  /** As docs/tasks/diagnose.md lists it. */
  readonly name: string;
  /** Changes what is created. */
  readonly plant?: (world: World) => void;
  /** Changes what was created. The returned function ends what it started. */
  readonly after?: (world: World) => Promise<(() => Promise<void>) | undefined>;
  /** The election to examine: "billing" by default; null for the whole namespace. */
  readonly examine?: string | null;
  /** The namespace to examine, if not that of the world. */
  readonly namespace?: string;
  readonly flags?: (world: World) => readonly string[];
  /** What is between the doctor and the API server. */
  readonly flaw?: Flaw;
  readonly check: string;
  readonly what: RegExp;
  /** Matches the fix followed by the command. */
  readonly fix: RegExp;
}

export const containerOf = (world: World): Container => world.deployment.spec.template.spec.containers[0];

/** Makes the workload one on client-go: an identity with a random part, flags of its own, no label, fewer rights. */
export function onClientGo(world: World, ...args: string[]): void {
  const container = containerOf(world);
  container.command = ["/manager"];
  container.args = ["--leader-elect", "--leader-election-id=billing", ...args];
  container.env = [];
  world.podLabels = () => ({ app: "billing" });
  world.rules = [
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
    {
      apiGroups: ["coordination.k8s.io"],
      resources: ["leases"],
      resourceNames: ["billing"],
      verbs: ["get", "update"],
    },
  ];
  Object.assign(world.lease?.spec ?? {}, {
    holderIdentity: `${world.pods[0]}_0b8a2c7e-5b1f-4d3a-9a51-1c2d3e4f5a6b`,
  });
  world.others = [];
}

/** Gives each pod other arguments than the template. */
export function argsOfPods(world: World, argsOf: (index: number) => string[]): void {
  world.podSpec = (index, template) => ({
    ...template,
    containers: [{ ...template.containers[0], args: argsOf(index) }],
  });
}
