/**
 * POST of a TokenRequest: issues a token for a ServiceAccount. The token expires, and can be bound to a pod or a
 * secret.
 */
import { type BoundObject, tokenIssuer } from "../access/service-account-tokens.ts";
import { keyOf, section } from "../objects/kind.ts";
import { secret } from "../objects/kinds/config.ts";
import { node } from "../objects/kinds/node.ts";
import { pod } from "../objects/kinds/pod.ts";
import { isObject } from "../objects/object.ts";
import { quote } from "../objects/quote.ts";
import { badRequest, conflict, type FieldError, field, invalid, notFound } from "../objects/status.ts";
import { formatTime } from "../objects/time.ts";
import { readBody } from "./body.ts";
import type { ApiResponse, KindContext } from "./context.ts";
import { decodeOrReject } from "./decode-body.ts";
import { findObject } from "./get.ts";

const defaultExpirySeconds = 3600;
const minExpirySeconds = 600;
const maxExpirySeconds = 2 ** 32;

interface TokenRequestSpec {
  audiences?: string[];
  expirationSeconds?: number;
  boundObjectRef?: { kind?: string; name?: string; uid?: string };
}

export async function requestToken(context: KindContext): Promise<ApiResponse> {
  const { cluster, info } = context;
  const { value } = await readBody(context, "TokenRequest");
  if (!isObject(value)) throw badRequest('TokenRequest in version "v1" cannot be handled as a TokenRequest');
  const account = findObject(context);
  const { value: request } = decodeOrReject(
    "api.authentication.v1.TokenRequest",
    value,
    (why) => `TokenRequest in version "v1" cannot be handled as a TokenRequest: ${why}`,
  );
  const spec = (request.spec ?? {}) as TokenRequestSpec;
  const seconds = spec.expirationSeconds ?? defaultExpirySeconds;
  const errors: FieldError[] = [];
  if (seconds < minExpirySeconds) {
    errors.push(
      field.invalid("spec.expirationSeconds", seconds, "may not specify a duration less than 10 minutes"),
    );
  }
  if (seconds > maxExpirySeconds) {
    errors.push(
      field.invalid("spec.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds"),
    );
  }
  if (errors.length > 0)
    throw invalid({ group: "authentication.k8s.io", kind: "TokenRequest", name: "" }, errors);

  const bound = spec.boundObjectRef && findBound(context, spec.boundObjectRef);
  const audiences = spec.audiences?.length ? spec.audiences : [tokenIssuer];
  const { token, expiresMs } = cluster.tokens.issue({
    namespace: info.namespace,
    name: info.name,
    uid: account.value.metadata.uid as string,
    seconds,
    audiences,
    ...(bound ? { bound } : {}),
  });
  return {
    type: "object",
    code: 201,
    value: {
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      metadata: {
        name: info.name,
        namespace: info.namespace,
        creationTimestamp: formatTime(cluster.platform.clock.now().wallMs),
      },
      spec: { audiences, expirationSeconds: seconds, boundObjectRef: spec.boundObjectRef ?? null },
      status: { token, expirationTimestamp: formatTime(expiresMs) },
    },
  };
}

function findBound(
  { cluster, info }: KindContext,
  reference: { kind?: string; name?: string; uid?: string },
): BoundObject {
  const { kind = "", name = "", uid } = reference;
  const of = [pod, secret].find((bindable) => bindable.kind === kind);
  if (!of)
    throw badRequest(
      `cannot bind token for serviceaccount ${quote(info.name)} to object of type ${quote(kind)}`,
    );
  const found = cluster.store.get(keyOf(of, info.namespace, name));
  const subject = { group: "", resource: of.plural, name };
  if (!found) throw notFound(subject);
  const actual = found.value.metadata.uid as string;
  if (uid && uid !== actual) {
    throw conflict(
      subject,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  const { nodeName } = section(found.value, "spec");
  if (typeof nodeName !== "string") return { kind, name, uid: actual };
  const nodeUid = cluster.store.get(keyOf(node, "", nodeName))?.value.metadata.uid;
  return { kind, name, uid: actual, node: { name: nodeName, ...(nodeUid ? { uid: nodeUid } : {}) } };
}
