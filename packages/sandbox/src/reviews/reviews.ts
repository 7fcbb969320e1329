/** Resources that are questions rather than objects: they are answered and not stored. */
import { readBody } from "../api/body.ts";
import type { Answer, Context } from "../api/context.ts";
import { isObject, type JsonObject } from "../api/object.ts";
import type { RequestInfo } from "../api/request-info.ts";
import { badRequest, type FieldError, invalid } from "../api/status.ts";
import { DecodeError, decode } from "../schema/decode.ts";
import { accessReview, localAccessReview, rulesReview, selfAccessReview } from "./access.ts";
import { selfReview, tokenReview } from "./tokens.ts";

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
