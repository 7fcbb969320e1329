/** DELETE of one object or of a collection. */
import { keyOf } from "../objects/kind.ts";
import { serviceAccount } from "../objects/kinds/config.ts";
import { namespace } from "../objects/kinds/namespace.ts";
import { service } from "../objects/kinds/network.ts";
import { pod } from "../objects/kinds/pod.ts";
import { type ApiObject, isObject, textOf } from "../objects/object.ts";
import { notRegistered } from "../objects/resources.ts";
import { metaPrefix } from "../objects/schema.ts";
import { badRequest, conflict, field, invalid, notFound, type Status } from "../objects/status.ts";
import type { Decision, Stored } from "../store/types.ts";
import { checkDeletion } from "./admission.ts";
import { readBody } from "./body.ts";
import type { ApiResponse, KindContext } from "./context.ts";
import { decodeOrReject } from "./decode-body.ts";
import { type DeletionOptions, decideDeletion } from "./deletion.ts";
import { represent, representList } from "./represent.ts";
import { parseSelection } from "./selection.ts";
import { subjectOf } from "./write.ts";
import { parseWriteOptions } from "./write-options.ts";

/** A DELETE of these kinds returns the deleted object. Other kinds return a Status. */
const returningKinds = [serviceAccount, namespace, pod, service];

export interface DeleteOptions extends DeletionOptions {
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun?: string[];
}

export async function deleteOne(context: KindContext): Promise<ApiResponse> {
  const { kind, info } = context;
  const options = await readDeleteOptions(context);
  checkDeletion(kind, info.name);
  const { before, after } = await deleteObject(context, info.namespace, info.name, options);
  if (after !== "gone") return represent(context, after, 200);
  if (returningKinds.includes(kind)) return represent(context, before, 200);
  const { uid } = before.value.metadata;
  const status: Status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: {
      name: info.name,
      ...(kind.group ? { group: kind.group } : {}),
      kind: kind.plural,
      ...(uid ? { uid } : {}),
    },
  };
  return { type: "object", code: 200, value: status };
}

export async function deleteCollection(context: KindContext): Promise<ApiResponse> {
  const options = await readDeleteOptions(context);
  const { kind, cluster } = context;
  const selection = parseSelection(context);
  const items = cluster.store.list(selection.prefix).filter(({ value }) => selection.matches(value));
  for (const { value } of items) {
    const { namespace: space = "", name = "" } = value.metadata;
    checkDeletion(kind, name);
    await deleteObject(context, space, name, options, true);
  }
  return representList(context, items, { resourceVersion: String(cluster.store.revision) });
}

export async function deleteObject(
  context: KindContext,
  space: string,
  name: string,
  options: DeleteOptions,
  missingIsFine = false,
) {
  const { kind, cluster } = context;
  const key = keyOf(kind, space, name);
  let before: Stored | undefined;
  let gone = false;
  const decide = (current: Stored | undefined): Decision => {
    if (!current) {
      if (missingIsFine) return undefined;
      throw notFound(subjectOf(context, name));
    }
    before = current;
    checkPreconditions(context, current.value, options);
    const decision = decideDeletion(kind, current.value, options, cluster.platform.clock.now().wallMs);
    gone = decision === "delete";
    return decision;
  };
  const dryRun = (options.dryRun ?? []).length > 0;
  const present = cluster.store.get(key);
  if (dryRun) decide(present);
  const after = dryRun ? present : await cluster.store.commit(key, decide);
  return { before: before as Stored, after: gone ? ("gone" as const) : (after as Stored) };
}

function checkPreconditions(
  { kind }: KindContext,
  object: ApiObject,
  { preconditions }: DeleteOptions,
): void {
  const { uid, resourceVersion, name = "" } = object.metadata;
  const subject = { group: kind.group, resource: kind.kind, name };
  if (preconditions?.uid !== undefined && preconditions.uid !== uid) {
    throw conflict(
      subject,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (preconditions?.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    throw conflict(
      subject,
      `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
}

const propagationPolicies = ["Foreground", "Background", "Orphan", "nil"];

/** Reads the options from the query. Options in the body override them. */
async function readDeleteOptions(context: KindContext): Promise<DeleteOptions> {
  const { query } = context.request;
  const fromQuery: DeleteOptions = {};
  if (parseWriteOptions(context).dryRun) fromQuery.dryRun = ["All"];
  const grace = query.get("gracePeriodSeconds");
  if (grace) fromQuery.gracePeriodSeconds = Number(grace);
  const policy = query.get("propagationPolicy");
  if (policy) fromQuery.propagationPolicy = policy;
  const options = { ...fromQuery, ...(await bodyOptions(context)) };
  const errors = [];
  if (options.orphanDependents !== undefined && options.propagationPolicy !== undefined) {
    const why = "orphanDependents and deletionPropagation cannot be both set";
    errors.push(field.invalid("propagationPolicy", options.propagationPolicy, why));
  }
  if (
    options.propagationPolicy !== undefined &&
    !propagationPolicies.slice(0, 3).includes(options.propagationPolicy)
  ) {
    errors.push(field.notSupported("propagationPolicy", options.propagationPolicy, propagationPolicies));
  }
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind: "DeleteOptions", name: "" }, errors);
  return options;
}

async function bodyOptions(context: KindContext): Promise<DeleteOptions> {
  const bytes = await context.request.body();
  if (bytes.length === 0) return {};
  const { value } = await readBody(context, "DeleteOptions");
  if (!isObject(value)) return {};
  if (value.kind !== undefined && value.kind !== "DeleteOptions") {
    throw badRequest(notRegistered(textOf(value.apiVersion ?? "meta.k8s.io/v1"), textOf(value.kind)));
  }
  return decodeOrReject(`${metaPrefix}DeleteOptions`, value, (why) => why).value as DeleteOptions;
}
