/**
 * Writes objects: admission, then validation, then the store. Create, update and all kinds of patch end here, so
 * there is one place that decides what may be stored.
 */
import { decode } from "../objects/decode.ts";
import { jsonText } from "../objects/json-text.ts";
import { type Kind, keyOf } from "../objects/kind.ts";
import { type ApiObject, equal, type ObjectMeta, withMetadata } from "../objects/object.ts";
import {
  ApiError,
  alreadyExists,
  badRequest,
  conflict,
  field,
  invalid,
  notFound,
  type Subject,
} from "../objects/status.ts";
import { formatTime } from "../objects/time.ts";
import { validate } from "../objects/validate.ts";
import { trackFields } from "../patch/track-fields.ts";
import type { Decision, Stored } from "../store/types.ts";
import { admit } from "./admission.ts";
import type { KindContext } from "./context.ts";
import { isFinalized } from "./deletion.ts";
import { withGeneratedName } from "./generate-name.ts";
import type { WriteOptions } from "./write-options.ts";

export async function createObject(
  context: KindContext,
  given: ApiObject,
  options: WriteOptions,
): Promise<Stored> {
  const placed = withNamespace(context, given);
  if (placed.metadata.resourceVersion !== undefined) {
    throw new ApiError(500, "", "resourceVersion should not be set on objects to be created");
  }
  return withGeneratedName(placed, context.cluster.platform, (object) => {
    const { name = "", generateName } = object.metadata;
    return commit(context, name, options, (current) => {
      // Validation comes first: an invalid object is reported as invalid even if its name is taken.
      const complete = prepareCreate(context, object, options);
      if (!current) return complete;
      throw alreadyExists(subjectOf(context, name), {
        generated: Boolean(generateName),
        deleting: current.value.metadata.deletionTimestamp !== undefined,
      });
    });
  });
}

/** `change` makes the new object from the current one. No other write happens in between. */
export async function updateObject(
  context: KindContext,
  options: WriteOptions,
  change: (current: ApiObject | undefined) => ApiObject,
  create: boolean,
): Promise<{ stored: Stored; created: boolean }> {
  const { info } = context;
  const subject = subjectOf(context, info.name);
  let created = false;
  let last: ApiObject | undefined;
  const stored = await commit(context, info.name, options, (current) => {
    created = false;
    last = undefined;
    if (!current && !create) throw notFound(subject);
    const object = withNamespace(context, change(current?.value));
    checkPreconditions(context, object, current?.value);
    if (!current) {
      created = true;
      return prepareCreate(context, object, options);
    }
    const complete = prepareUpdate(context, object, current.value, options);
    if (releasesObject(context.kind, complete, current.value)) {
      last = complete;
      return "delete";
    }
    return equalExceptTimes(complete, current.value) ? undefined : complete;
  });
  // The client that removes the last finalizer gets the object as it wrote it.
  return { stored: last ? { ...stored, value: last, json: jsonText(last) } : stored, created };
}

function prepareCreate(context: KindContext, object: ApiObject, options: WriteOptions): ApiObject {
  const { kind, cluster } = context;
  const {
    resourceVersion: _old,
    deletionTimestamp: _gone,
    deletionGracePeriodSeconds: _grace,
    ...meta
  } = object.metadata;
  const { status: _status, ...rest } = object;
  const { status } = decode(kind.type, {}).value;
  const fresh = {
    ...(kind.status ? { ...(rest as ApiObject), ...(status ? { status } : {}) } : object),
    metadata: {
      ...meta,
      uid: cluster.platform.uuid(),
      creationTimestamp: formatTime(cluster.platform.clock.now().wallMs),
      ...(kind.generation ? { generation: 1 } : {}),
    },
  };
  const admitted = admit(context, fresh, undefined);
  validate(kind, admitted, undefined);
  return withManagedFields(context, admitted, undefined, options);
}

function prepareUpdate(
  context: KindContext,
  object: ApiObject,
  old: ApiObject,
  options: WriteOptions,
): ApiObject {
  const { kind } = context;
  const { creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation } = old.metadata;
  const parted = kind.status ? withWritablePart(context, object, old) : object;
  const fresh = withMetadata(parted, {
    resourceVersion: old.metadata.resourceVersion,
    uid: object.metadata.uid || old.metadata.uid,
    creationTimestamp: creationTimestamp || object.metadata.creationTimestamp,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    generation,
  });
  const admitted = admit(context, fresh, old);
  const counted =
    kind.generation && !equal(contentOf(admitted), contentOf(old))
      ? withMetadata(admitted, { generation: (old.metadata.generation ?? 0) + 1 })
      : admitted;
  validate(kind, counted, old);
  return withManagedFields(context, counted, old, options);
}

function withManagedFields(
  context: KindContext,
  object: ApiObject,
  old: ApiObject | undefined,
  { fieldManager }: WriteOptions,
): ApiObject {
  const { kind, info, cluster, recordedSubresource = info.subresource } = context;
  if (context.managedFieldsAreSet) return object;
  const { subresource } = info;
  const write = {
    kind,
    subresource,
    fieldManager,
    recordedSubresource,
    wallMs: cluster.platform.clock.now().wallMs,
  };
  return trackFields(write, object, old);
}

/**
 * A write to the object does not change its status. A write to the status changes nothing else except metadata, and
 * some kinds protect parts of their metadata.
 */
function withWritablePart({ kind, info }: KindContext, object: ApiObject, old: ApiObject): ApiObject {
  const { status: newStatus, ...rest } = object;
  if (info.subresource === "")
    return { ...(rest as ApiObject), ...(old.status === undefined ? {} : { status: old.status }) };
  const metadata: ObjectMeta = { ...object.metadata };
  for (const name of keptMetadata(kind)) {
    if (old.metadata[name] === undefined) delete metadata[name];
    else Object.assign(metadata, { [name]: old.metadata[name] });
  }
  // An approval changes only the conditions.
  const { conditions } = (newStatus ?? {}) as { conditions?: unknown };
  const status = info.subresource === "approval" ? { ...(old.status as object), conditions } : newStatus;
  return { ...old, metadata, ...(status === undefined ? {} : { status }) };
}

const statusMetadata = ["labels", "annotations", "finalizers", "ownerReferences"] as const;

function keptMetadata({ statusKeeps = [] }: Kind) {
  return statusKeeps.includes("metadata")
    ? statusMetadata
    : statusMetadata.filter((name) => (statusKeeps as readonly string[]).includes(name));
}

const contentOf = ({ metadata: _metadata, status: _status, ...content }: ApiObject) => content;

function checkPreconditions(context: KindContext, object: ApiObject, old: ApiObject | undefined): void {
  const { kind, info } = context;
  const subject = subjectOf(context, info.name);
  const { uid, resourceVersion } = object.metadata;
  // In a PUT the uid is a precondition. In a patch it is an immutable field, which validation checks.
  if (info.verb === "update" && uid && uid !== (old?.metadata.uid ?? "")) {
    throw conflict(
      subject,
      `StorageError: invalid object, Code: 4, Key: ${keyOf(kind, info.namespace, info.name)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old?.metadata.uid ?? ""}`,
    );
  }
  if (!old) return;
  if (resourceVersion === undefined || resourceVersion === "0") {
    if (kind.unconditionalUpdate !== false) return;
    throw invalid({ group: kind.group, kind: kind.plural, name: info.name }, [
      field.invalid("metadata.resourceVersion", 0, "must be specified for an update"),
    ]);
  }
  if (resourceVersion !== old.metadata.resourceVersion) throw conflict(subject);
}

/** Whether nothing holds a deleted object any more after this write. */
function releasesObject(kind: Kind, object: ApiObject, old: ApiObject): boolean {
  return (
    !object.metadata.finalizers?.length &&
    old.metadata.deletionTimestamp !== undefined &&
    !old.metadata.deletionGracePeriodSeconds &&
    isFinalized(kind, object)
  );
}

/** A write without changes causes no revision and no event. The times in managedFields do not count as changes. */
function equalExceptTimes(object: ApiObject, old: ApiObject): boolean {
  // Most writes change something here, so the rest is rarely compared.
  const withoutMetadata = ({ metadata: _metadata, ...rest }: ApiObject) => rest;
  if (!equal(withoutMetadata(object), withoutMetadata(old))) return false;
  const timeless = ({ metadata }: ApiObject) => ({
    ...metadata,
    managedFields: (metadata.managedFields ?? []).map((entry) => ({ ...entry, time: "" })),
  });
  return equal(timeless(object), timeless(old));
}

async function commit(
  context: KindContext,
  name: string,
  { dryRun }: WriteOptions,
  decide: (current: Stored | undefined) => Decision,
): Promise<Stored> {
  const { kind, info, cluster } = context;
  const key = keyOf(kind, info.namespace, name);
  if (!dryRun) return (await cluster.store.commit(key, decide)) as Stored;
  const current = cluster.store.get(key);
  const decision = decide(current);
  if (current && typeof decision !== "object") return current;
  const value = withMetadata(decision as ApiObject, {});
  return { key, revision: 0, value, json: jsonText(value) };
}

export function subjectOf({ kind }: { kind: Kind }, name: string): Subject {
  return { group: kind.group, resource: kind.plural, ...(name ? { name } : {}) };
}

function withNamespace({ kind, info }: KindContext, object: ApiObject): ApiObject {
  const { namespace } = object.metadata;
  if (namespace && (!kind.namespaced || namespace !== info.namespace)) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  return namespace || !kind.namespaced ? object : withMetadata(object, { namespace: info.namespace });
}
