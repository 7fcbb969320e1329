/** Whose token is this, and who am I? */
import type { JsonObject } from "../objects/object.ts";
import { badRequest } from "../objects/status.ts";
import type { Review } from "../registry/reviews.ts";
import { tokenIssuer } from "./service-account-tokens.ts";
import type { User } from "./user.ts";

const group = "authentication.k8s.io";

const printUser = ({ name, uid, groups, extra }: User): JsonObject => ({
  username: name,
  ...(uid ? { uid } : {}),
  groups,
  ...(extra ? { extra } : {}),
});

export const tokenReview: Review = {
  group,
  kind: "TokenReview",
  plural: "tokenreviews",
  namespaced: false,
  type: "api.authentication.v1.TokenReview",
  validate(object) {
    if ((object.spec as { token?: string } | undefined)?.token) return [];
    throw badRequest("token is required for TokenReview in authentication");
  },
  answer(object, { cluster }) {
    const { token = "", audiences = [tokenIssuer] } = (object.spec ?? {}) as {
      token?: string;
      audiences?: string[];
    };
    const found = cluster.tokens.check(token, audiences);
    if (found) return { authenticated: true, user: printUser(found.user), audiences: found.audiences };
    return { user: {}, error: "invalid bearer token" };
  },
};

export const selfReview: Review = {
  group,
  kind: "SelfSubjectReview",
  plural: "selfsubjectreviews",
  namespaced: false,
  type: "api.authentication.v1.SelfSubjectReview",
  answer: (_object, { user }) => ({ userInfo: printUser(user) }),
};
