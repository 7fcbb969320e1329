/** The writes of controllers. Each names its object by uid or version, so that it never hits a successor of the same name. */
import { KubeError, type KubeErrorCode } from "@tenure/kube";
import { type ApiClient, collectionPath, objectPath, type Resource } from "./api.ts";
import type { KubeObject } from "./objects.ts";

const strategicMerge = "application/strategic-merge-patch+json";
const jsonMerge = "application/merge-patch+json";

export async function createObject<T extends KubeObject>(
  client: ApiClient,
  resource: Resource<T>,
  namespace: string | undefined,
  body: object,
): Promise<T> {
  const { apiVersion, kind } = resource;
  const path = collectionPath(resource, namespace);
  return client.request<T>({ method: "POST", path, body: { apiVersion, kind, ...body } });
}

/** Replaces an object. It fails with Conflict if the object changed since it was read. */
export async function replaceObject<T extends KubeObject>(
  client: ApiClient,
  resource: Resource<T>,
  object: T,
  subresource?: "status",
): Promise<T> {
  const { apiVersion, kind } = resource;
  const path = objectPath(resource, object.metadata, subresource);
  return client.request<T>({ method: "PUT", path, body: { apiVersion, kind, ...object } });
}

/** Applies a strategic merge patch, or a JSON merge patch to what has no merge keys. */
export async function patchObject<T extends KubeObject>(
  client: ApiClient,
  resource: Resource<T>,
  target: { namespace?: string; name: string },
  patch: object,
  { subresource, type = "strategic" }: { subresource?: "status"; type?: "strategic" | "merge" } = {},
): Promise<T> {
  return client.request<T>({
    method: "PATCH",
    path: objectPath(resource, target, subresource),
    body: patch,
    contentType: type === "strategic" ? strategicMerge : jsonMerge,
  });
}

/** Deletes this object, and not another of the same name. It succeeds if the object is gone already. */
export async function deleteObject(
  client: ApiClient,
  resource: Resource<KubeObject>,
  { metadata }: KubeObject,
  options: { propagationPolicy?: string; gracePeriodSeconds?: number } = {},
): Promise<void> {
  const { uid } = metadata;
  const body = { apiVersion: "v1", kind: "DeleteOptions", ...options, preconditions: { uid } };
  try {
    await client.request({ method: "DELETE", path: objectPath(resource, metadata), body });
  } catch (error) {
    // A conflict means that the name belongs to another object by now.
    if (!hasCode(error, "NotFound", "Conflict")) throw error;
  }
}

export function hasCode(error: unknown, ...codes: KubeErrorCode[]): boolean {
  return error instanceof KubeError && codes.includes(error.code);
}

/** Whether a failed write may have happened all the same. */
export function mayHaveHappened(error: unknown): boolean {
  return !(error instanceof KubeError) || error.status === undefined || error.status >= 500;
}

/** Whether a create failed because its namespace is being deleted. Retrying it makes no sense. */
export function isNamespaceEnding(error: unknown): boolean {
  if (!(error instanceof KubeError) || error.code !== "Forbidden") return false;
  const { details } = (error.details ?? {}) as { details?: { causes?: { reason?: string }[] } };
  return details?.causes?.some(({ reason }) => reason === "NamespaceTerminating") ?? false;
}
