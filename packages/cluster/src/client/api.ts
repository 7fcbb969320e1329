/** How components reach the API server: the part of KubeClient that they use, and the paths of the resources. */
import type { KubeClient } from "@tenure/kube";
import type { KubeObject } from "./objects.ts";

/** A KubeClient, or a wrapper that rejects writes. */
export type ApiClient = Pick<KubeClient, "request" | "watch">;

/** A resource of the API whose objects have the type T. */
export interface Resource<T extends KubeObject> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Never set. It only tells the compiler the type of the objects. */
  readonly objects?: T;
}

/** The path of a collection. @param namespace all namespaces if it is missing */
export function collectionPath(resource: Resource<KubeObject>, namespace?: string): string {
  const { apiVersion, plural, namespaced } = resource;
  const root = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
  return namespaced && namespace !== undefined
    ? `${root}/namespaces/${namespace}/${plural}`
    : `${root}/${plural}`;
}

/** The path of one object. @param subresource for example "status" */
export function objectPath(
  resource: Resource<KubeObject>,
  { namespace, name }: { namespace?: string | undefined; name: string },
  subresource?: string,
): string {
  const path = `${collectionPath(resource, namespace ?? "")}/${name}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}
