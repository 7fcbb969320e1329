/**
 * The shape of a review: a resource that asks a question about access. The API answers it in `status` and stores
 * nothing.
 */
import type { JsonObject } from "../objects/object.ts";
import type { FieldError } from "../objects/status.ts";
import type { Authorizer } from "./authorizer.ts";
import type { ServiceAccountTokens } from "./service-account-tokens.ts";
import type { User } from "./user.ts";

/** The user who sends the review, and what answers it. */
export interface Asker {
  user: User;
  /** The namespace in the path of the request. */
  namespace: string;
  authorizer: Authorizer;
  tokens: ServiceAccountTokens;
}

export interface Review {
  validate?(object: JsonObject, asker: Asker): FieldError[];
  status(object: JsonObject, asker: Asker): JsonObject;
}
