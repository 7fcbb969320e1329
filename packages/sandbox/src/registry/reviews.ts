/** Resources that are questions rather than objects: they are answered and not stored. */

import { accessReview, localAccessReview, rulesReview, selfAccessReview } from "../access/access-reviews.ts";
import { selfReview, tokenReview } from "../access/token-reviews.ts";
import { DecodeError, decode } from "../objects/decode.ts";
import { isObject, type JsonObject } from "../objects/object.ts";
import { badRequest, type FieldError, invalid } from "../objects/status.ts";
import type { RequestInfo } from "../wire/request-info.ts";
import { readBody } from "./body.ts";
import type { Answer, Context } from "./context.ts";

export interface Review {
  group: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  type: string;
  validate?(object: JsonObject, context: Context): FieldError[];
  /** Makes the status. */
  answer(object: JsonObject, context: Context): JsonObject;
}

export const reviews: readonly Review[] = [
  tokenReview,
  selfReview,
  localAccessReview,
  selfAccessReview,
  rulesReview,
  accessReview,
];

export function findReview(info: RequestInfo): ((context: Context) => Promise<Answer>) | undefined {
  const review = reviews.find(({ group, plural }) => group === info.group && plural === info.resource);
  if (!review || info.version !== "v1" || info.name || review.namespaced !== (info.namespace !== ""))
    return undefined;
  return (context) => answerReview(review, context);
}

async function answerReview(review: Review, context: Context): Promise<Answer> {
  const { value } = await readBody(context, review.kind);
  const { kind, group, type } = review;
  const apiVersion = `${group}/v1`;
  if (!isObject(value)) throw badRequest(`${kind} in version "v1" cannot be handled as a ${kind}`);
  if (value.apiVersion !== undefined && value.apiVersion !== apiVersion) {
    throw badRequest(
      `the API version in the data (${String(value.apiVersion)}) does not match the expected API version (${apiVersion})`,
    );
  }
  let object: JsonObject;
  try {
    object = decode(type, value).value;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(`${kind} in version "v1" cannot be handled as a ${kind}: ${error.message}`);
  }
  const errors = review.validate?.(object, context) ?? [];
  if (errors.length > 0) throw invalid({ group, kind: "", name: "" }, errors);
  const { metadata = {}, spec } = object;
  const status = review.answer(object, context);
  return {
    type: "object",
    code: 201,
    value: { kind, apiVersion, metadata, ...(spec ? { spec } : {}), status },
  };
}
