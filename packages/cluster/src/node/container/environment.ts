/** The environment of a container: envFrom, env, and the variables of services. */
import type { EnvVar, NodeContainer, NodePod } from "../pod.ts";
import { fieldValue, type PodPlace } from "./downward.ts";
import { expand } from "./expand.ts";
import type { Lookup } from "./lookup.ts";
import { resourceValue } from "./resource-amount.ts";

/** Something that the container refers to does not exist. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

export interface EnvironmentContext {
  readonly pod: NodePod;
  readonly place: PodPlace;
  readonly lookup: Lookup;
  readonly allocatable: Readonly<Record<string, string>>;
  /** The addresses of services. A variable of the pod with the same name wins. */
  readonly serviceVariables: Readonly<Record<string, string>>;
}

type Variables = Record<string, string>;

/** Rejects with a ConfigError if a ConfigMap, a Secret or a key is missing. */
export async function environmentOf(
  container: NodeContainer,
  context: EnvironmentContext,
): Promise<Readonly<Variables>> {
  const variables: Variables = {};
  for (const source of container.envFrom ?? []) Object.assign(variables, await fromSource(source, context));
  for (const variable of container.env ?? []) {
    const visible = { ...context.serviceVariables, ...variables };
    const value = await variableValue(variable, container, context, visible);
    if (value !== undefined) variables[variable.name] = value;
  }
  return { ...context.serviceVariables, ...variables };
}

async function fromSource(
  { prefix = "", configMapRef, secretRef }: NonNullable<NodeContainer["envFrom"]>[number],
  { pod, lookup }: EnvironmentContext,
): Promise<Variables> {
  const reference = configMapRef ?? secretRef;
  const kind = configMapRef ? "configmap" : "secret";
  const name = reference?.name ?? "";
  const data = await read(kind, name, pod, lookup);
  if (!data && reference?.optional) return {};
  if (!data) throw new ConfigError(`${kind} ${JSON.stringify(name)} not found`);
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [`${prefix}${key}`, value]));
}

async function variableValue(
  { name, value, valueFrom }: EnvVar,
  container: NodeContainer,
  { pod, place, lookup, allocatable }: EnvironmentContext,
  visible: Variables,
): Promise<string | undefined> {
  if (!valueFrom) return expand(value ?? "", visible);
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom;
  if (fieldRef) {
    const found = fieldValue(pod, fieldRef.fieldPath, place);
    if (found !== undefined) return found;
    throw new ConfigError(`unsupported fieldPath ${JSON.stringify(fieldRef.fieldPath)} of variable ${name}`);
  }
  if (resourceFieldRef) return resourceValue(pod, resourceFieldRef, container.name, allocatable);
  const reference = configMapKeyRef ?? secretKeyRef;
  if (!reference) return undefined;
  const kind = configMapKeyRef ? "configmap" : "secret";
  const data = await read(kind, reference.name ?? "", pod, lookup);
  const found = data && Object.hasOwn(data, reference.key) ? data[reference.key] : undefined;
  if (found !== undefined || reference.optional) return found;
  const { namespace } = pod.metadata;
  if (!data) throw new ConfigError(`${kind} ${JSON.stringify(reference.name)} not found`);
  const title = kind === "secret" ? "Secret" : "ConfigMap";
  throw new ConfigError(`couldn't find key ${reference.key} in ${title} ${namespace}/${reference.name}`);
}

async function read(
  kind: "configmap" | "secret",
  name: string,
  { metadata }: NodePod,
  lookup: Lookup,
): Promise<Readonly<Variables> | undefined> {
  const namespace = metadata.namespace ?? "";
  if (kind === "configmap") {
    const found = await lookup.configMap(namespace, name);
    return found && (found.data ?? {});
  }
  const found = await lookup.secret(namespace, name);
  if (!found) return undefined;
  const decoded = Object.entries(found.data ?? {}).map(([key, value]) => [
    key,
    Buffer.from(value, "base64").toString("utf8"),
  ]);
  return Object.fromEntries(decoded);
}
