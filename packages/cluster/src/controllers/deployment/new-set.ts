/** The ReplicaSet for the present template of a Deployment. */
import type { Labels, ObjectMeta } from "../../client/objects.ts";
import { controllerReference } from "../../client/owner.ts";
import { deployments } from "../../client/resources.ts";
import type { Deployment, ReplicaSet } from "../../client/workloads.ts";
import { boundsOf } from "./bounds.ts";
import { newSetAnnotations, sizeAnnotations } from "./revision.ts";
import { hashLabel, templateHash } from "./template.ts";

export interface NewSet {
  readonly metadata: Pick<ObjectMeta, "name" | "labels" | "annotations" | "ownerReferences">;
  readonly spec: ReplicaSet["spec"];
}

/** The hash is in its name, in its selector and in the labels of its pods, so that it never selects pods of another. */
export function newSetFor(deployment: Deployment, replicas: number, revision: bigint): NewSet {
  const { metadata, spec, status } = deployment;
  const hash = { [hashLabel]: templateHash(spec.template, status?.collisionCount) };
  const labels: Labels = { ...spec.template.metadata?.labels, ...hash };
  const { creationTimestamp: _time, ...templateMetadata } = spec.template.metadata ?? {};
  return {
    metadata: {
      name: `${metadata.name}-${hash[hashLabel]}`,
      labels,
      annotations: {
        ...newSetAnnotations(deployment, {}, revision),
        ...sizeAnnotations(boundsOf(deployment)),
      },
      ownerReferences: [controllerReference(deployments, deployment)],
    },
    spec: {
      replicas,
      ...(spec.minReadySeconds === undefined ? {} : { minReadySeconds: spec.minReadySeconds }),
      selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, ...hash } },
      template: { ...spec.template, metadata: { ...templateMetadata, labels } },
    },
  };
}
