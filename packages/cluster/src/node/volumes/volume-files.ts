/** The files of volumes that the API fills: configMap, secret, downwardAPI, and projected with tokens. */
import { fieldValue, type PodPlace } from "../container/downward.ts";
import { ConfigError } from "../container/environment.ts";
import type { Lookup } from "../container/lookup.ts";
import { resourceValue } from "../container/resource-amount.ts";
import type { DownwardItem, KeyToPath, NodePod, ProjectedSource, Volume } from "../pod.ts";
import type { FileContent, Files } from "./atomic-files.ts";

export interface VolumeContext {
  readonly pod: NodePod;
  readonly place: PodPlace;
  readonly lookup: Lookup;
  readonly allocatable: Readonly<Record<string, string>>;
  /** A token of the pod's ServiceAccount that does not expire soon. */
  token(audience: string | undefined, expirationSeconds: number | undefined): Promise<string>;
}

const defaultFileMode = 0o644;

/** Undefined if the API does not fill this volume. Rejects with a ConfigError if something is missing. */
export async function volumeFiles(volume: Volume, context: VolumeContext): Promise<Files | undefined> {
  const { configMap, secret, downwardAPI, projected } = volume;
  const sources: ProjectedSource[] | undefined = configMap
    ? [{ configMap }]
    : secret
      ? [{ secret: { ...secret, name: secret.secretName ?? "" } }]
      : downwardAPI
        ? [{ downwardAPI }]
        : projected && [...(projected.sources ?? [])];
  if (!sources) return undefined;
  const mode = (configMap ?? secret ?? downwardAPI ?? projected)?.defaultMode ?? defaultFileMode;
  const files = new Map<string, FileContent>();
  for (const source of sources)
    for (const [path, content] of await sourceFiles(source, mode, context)) files.set(path, content);
  return files;
}

async function sourceFiles(
  { configMap, secret, downwardAPI, serviceAccountToken }: ProjectedSource,
  mode: number,
  context: VolumeContext,
): Promise<[string, FileContent][]> {
  const namespace = context.pod.metadata.namespace ?? "";
  if (configMap) {
    const name = configMap.name ?? "";
    const found = await context.lookup.configMap(namespace, name);
    const data = found && {
      ...mapValues(found.data, (text) => Buffer.from(text)),
      ...mapValues(found.binaryData, (text) => Buffer.from(text, "base64")),
    };
    return selected(data, configMap, mode, `configmap ${JSON.stringify(name)}`);
  }
  if (secret) {
    const name = secret.name ?? "";
    const found = await context.lookup.secret(namespace, name);
    const data = found && mapValues(found.data, (text) => Buffer.from(text, "base64"));
    return selected(data, secret, mode, `secret ${JSON.stringify(name)}`);
  }
  if (downwardAPI)
    return (downwardAPI.items ?? []).map((item) => [item.path, downwardFile(item, mode, context)]);
  if (!serviceAccountToken) return [];
  const { audience, expirationSeconds, path } = serviceAccountToken;
  return [[path, { data: Buffer.from(await context.token(audience, expirationSeconds)), mode }]];
}

function selected(
  data: Readonly<Record<string, Buffer>> | undefined,
  { items, optional }: { items?: readonly KeyToPath[]; optional?: boolean },
  mode: number,
  what: string,
): [string, FileContent][] {
  if (!data && !optional) throw new ConfigError(`${what} not found`);
  const content = data ?? {};
  if (!items) return Object.entries(content).map(([key, bytes]) => [key, { data: bytes, mode }]);
  return items.flatMap((item): [string, FileContent][] => {
    const bytes = Object.hasOwn(content, item.key) ? content[item.key] : undefined;
    if (bytes) return [[item.path, { data: bytes, mode: item.mode ?? mode }]];
    if (optional) return [];
    throw new ConfigError(`${what} has no key ${JSON.stringify(item.key)}`);
  });
}

function downwardFile(item: DownwardItem, mode: number, context: VolumeContext): FileContent {
  const { pod, place, allocatable } = context;
  const { fieldRef, resourceFieldRef } = item;
  const text = fieldRef
    ? fieldValue(pod, fieldRef.fieldPath, place)
    : resourceFieldRef && resourceValue(pod, resourceFieldRef, "", allocatable);
  if (text === undefined)
    throw new ConfigError(
      `unsupported fieldPath ${JSON.stringify(fieldRef?.fieldPath)} of file ${JSON.stringify(item.path)}`,
    );
  return { data: Buffer.from(text), mode: item.mode ?? mode };
}

function mapValues(
  map: Readonly<Record<string, string>> = {},
  convert: (text: string) => Buffer,
): Record<string, Buffer> {
  return Object.fromEntries(Object.entries(map).map(([key, text]) => [key, convert(text)]));
}
