/** TokenReview (whose token is this?) and SelfSubjectReview (who am I?). */
import type { JsonObject } from "../objects/object.ts";
import { badRequest } from "../objects/status.ts";
import type { Review } from "./review.ts";
import { tokenIssuer } from "./service-account-tokens.ts";
import type { User } from "./user.ts";

const printUser = ({ name, uid, groups, extra }: User): JsonObject => ({
  username: name,
  ...(uid ? { uid } : {}),
  groups,
  ...(extra ? { extra } : {}),
});

export const tokenReview: Review = {
  validate(object) {
    if ((object.spec as { token?: string } | undefined)?.token) return [];
    throw badRequest("token is required for TokenReview in authentication");
  },
  status(object, { tokens }) {
    const { token = "", audiences = [tokenIssuer] } = (object.spec ?? {}) as {
      token?: string;
      audiences?: string[];
    };
    const found = tokens.check(token, audiences);
    if (found) return { authenticated: true, user: printUser(found.user), audiences: found.audiences };
    return { user: {}, error: "invalid bearer token" };
  },
};

export const selfReview: Review = {
  status: (_object, { user }) => ({ userInfo: printUser(user) }),
};
