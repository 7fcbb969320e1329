/** The API objects that the gates read and write. Fields that no gate knows are kept. */
import { KubeError } from "@tenure/kube";
import { TrafficError } from "../errors.ts";
import { tokenAnnotation } from "../names.ts";
import type { Call } from "./kube-gate.ts";

export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}

interface Metadata {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** The object, or undefined if it does not exist. */
export async function find(call: Call, path: string): Promise<KubeObject | undefined> {
  try {
    return await call<KubeObject>({ method: "GET", path });
  } catch (error) {
    if (error instanceof KubeError && error.code === "NotFound") return undefined;
    throw error;
  }
}

/** The token of the last term that wrote the object; 0 if no term has. */
export function tokenOf({ metadata }: KubeObject): bigint {
  const text = metadata.annotations?.[tokenAnnotation];
  return text !== undefined && /^\d{1,30}$/.test(text) ? BigInt(text) : 0n;
}

/** Throws if a later term has written the object. @param what for the message: `EndpointSlice prod/web-leader` */
export function rejectIfFenced(object: KubeObject, token: bigint, what: string): void {
  const seen = tokenOf(object);
  if (seen <= token) return;
  throw new TrafficError(
    "Fenced",
    `Cannot write ${what}: a later term has already written it (its token is ${seen}, the token of this term is ${token}). ` +
      `If the cluster was restored from a backup, remove the annotation ${tokenAnnotation} from it.`,
  );
}
