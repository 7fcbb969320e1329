/** Adopts and releases objects. */
import { type ApiClient, objectPath, type Resource } from "../client/api.ts";
import type { KubeObject, OwnerReference } from "../client/objects.ts";
import { adoptionPatch, type Claims, releasePatch } from "../client/owner.ts";
import { hasCode, patchObject } from "../client/writes.ts";

export interface ClaimOptions<T extends KubeObject, O extends KubeObject> {
  client: ApiClient;
  /** The resource of the claimed objects. */
  resource: Resource<T>;
  /** The resource of the owner. */
  owners: Resource<O>;
  owner: O;
  controller: OwnerReference;
  claims: Claims<T>;
}

/** Performs the claims. Returns all objects that the owner then controls. */
export async function claimObjects<T extends KubeObject, O extends KubeObject>({
  client,
  resource,
  owners,
  owner,
  controller,
  claims,
}: ClaimOptions<T, O>): Promise<T[]> {
  const owned = [...claims.owned];
  if (claims.adopt.length > 0 && (await isCurrent(client, owners, owner))) {
    for (const object of claims.adopt) {
      const adopted = await unlessGone(
        patchObject(client, resource, object.metadata, adoptionPatch(controller, object)),
      );
      if (adopted) owned.push(adopted);
    }
  }
  for (const object of claims.release) {
    await unlessGone(patchObject(client, resource, object.metadata, releasePatch(owner, object)));
  }
  return owned;
}

/** Whether the owner still exists. A copy that is behind would adopt objects for an owner that is gone. */
async function isCurrent<O extends KubeObject>(
  client: ApiClient,
  owners: Resource<O>,
  { metadata }: O,
): Promise<boolean> {
  const path = objectPath(owners, metadata);
  const found = await unlessGone(client.request<O>({ method: "GET", path }));
  return found?.metadata.uid === metadata.uid && found.metadata.deletionTimestamp === undefined;
}

async function unlessGone<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    // Conflict and Invalid: the name belongs to another object, or another controller adopted it first.
    if (hasCode(error, "NotFound", "Conflict", "Invalid")) return undefined;
    throw error;
  }
}
