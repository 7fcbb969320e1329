/** POST of a review. */
import {
  accessReview,
  localAccessReview,
  type Review,
  rulesReview,
  selfAccessReview,
  selfReview,
  tokenReview,
} from "../access/reviews.ts";
import { isObject } from "../objects/object.ts";
import { type ReviewKind, reviewKinds } from "../objects/resources.ts";
import { badRequest, invalid } from "../objects/status.ts";
import { readBody } from "./body.ts";
import type { ApiResponse, Context, RequestInfo } from "./context.ts";
import { decodeOrReject } from "./decode-body.ts";

const reviews: Record<ReviewKind["kind"], Review> = {
  LocalSubjectAccessReview: localAccessReview,
  SelfSubjectAccessReview: selfAccessReview,
  SelfSubjectReview: selfReview,
  SelfSubjectRulesReview: rulesReview,
  SubjectAccessReview: accessReview,
  TokenReview: tokenReview,
};

export function findReview(info: RequestInfo): ((context: Context) => Promise<ApiResponse>) | undefined {
  const found = reviewKinds.find(({ group, plural }) => group === info.group && plural === info.resource);
  if (!found || info.version !== found.version || info.name || found.namespaced !== (info.namespace !== ""))
    return undefined;
  return (context) => answerReview(found, context);
}

async function answerReview({ kind, group, type }: ReviewKind, context: Context): Promise<ApiResponse> {
  const { value } = await readBody(context, kind);
  const apiVersion = `${group}/v1`;
  if (!isObject(value)) throw badRequest(`${kind} in version "v1" cannot be handled as a ${kind}`);
  if (value.apiVersion !== undefined && value.apiVersion !== apiVersion) {
    throw badRequest(
      `the API version in the data (${String(value.apiVersion)}) does not match the expected API version (${apiVersion})`,
    );
  }
  const { value: object } = decodeOrReject(
    type,
    value,
    (why) => `${kind} in version "v1" cannot be handled as a ${kind}: ${why}`,
  );
  const { authorizer, tokens } = context.cluster;
  const asker = { user: context.user, namespace: context.info.namespace, authorizer, tokens };
  const review = reviews[kind];
  const errors = review.validate?.(object, asker) ?? [];
  if (errors.length > 0) throw invalid({ group, kind: "", name: "" }, errors);
  const { metadata = {}, spec } = object;
  const status = review.status(object, asker);
  return {
    type: "object",
    code: 201,
    value: { kind, apiVersion, metadata, ...(spec ? { spec } : {}), status },
  };
}
