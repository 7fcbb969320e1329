/**
 * Reviews: resources that ask a question about access. `kubectl auth can-i` uses them. The API answers in `status` and
 * stores nothing.
 */
import type { JsonObject } from "../objects/object.ts";
import { badRequest, type FieldError, field } from "../objects/status.ts";
import type { Authorizer } from "./authorizer.ts";
import { type Attributes, noAttributes } from "./rules.ts";
import { type ServiceAccountTokens, tokenIssuer } from "./service-account-tokens.ts";
import type { User } from "./user.ts";

/** The user who sends the review, and what answers it. */
interface Asker {
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

interface AccessSpec {
  resourceAttributes?: Partial<
    Record<"verb" | "group" | "version" | "resource" | "subresource" | "namespace" | "name", string>
  >;
  nonResourceAttributes?: { path?: string; verb?: string };
  user?: string;
  groups?: string[];
  uid?: string;
}

const specOf = (object: JsonObject) => (object.spec ?? {}) as AccessSpec;

function attributesOf({ resourceAttributes, nonResourceAttributes }: AccessSpec): Attributes {
  return resourceAttributes
    ? { ...noAttributes, ...resourceAttributes }
    : { ...noAttributes, path: "", ...nonResourceAttributes };
}

function decide({ authorizer }: Asker, user: User, spec: AccessSpec): JsonObject {
  const { allowed, reason } = authorizer.authorize(user, attributesOf(spec));
  return { allowed, ...(reason ? { reason } : {}) };
}

function validateSpec(object: JsonObject): FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = specOf(object);
  if (resourceAttributes && nonResourceAttributes) {
    const why = "cannot be specified in combination with resourceAttributes";
    return [field.invalid("spec.nonResourceAttributes", nonResourceAttributes, why)];
  }
  if (!resourceAttributes && !nonResourceAttributes) {
    return [
      field.invalid(
        "spec.resourceAttributes",
        null,
        "exactly one of nonResourceAttributes or resourceAttributes must be specified",
      ),
    ];
  }
  return [];
}

const subjectOf = ({ user = "", groups = [], uid }: AccessSpec): User => ({
  name: user,
  groups,
  ...(uid ? { uid } : {}),
});

function validateUser(object: JsonObject): FieldError[] {
  const { user, groups = [] } = specOf(object);
  const errors = validateSpec(object);
  if (!user && groups.length === 0) {
    errors.push(field.invalid("spec.user", user ?? "", "at least one of user or group must be specified"));
  }
  return errors;
}

export const selfAccessReview: Review = {
  validate: validateSpec,
  status: (object, asker) => decide(asker, asker.user, specOf(object)),
};

export const accessReview: Review = {
  validate: validateUser,
  status: (object, asker) => decide(asker, subjectOf(specOf(object)), specOf(object)),
};

export const localAccessReview: Review = {
  validate(object, { namespace }) {
    const errors = validateUser(object);
    const { resourceAttributes } = specOf(object);
    if (resourceAttributes && resourceAttributes.namespace !== namespace) {
      errors.push(
        field.invalid(
          "spec.resourceAttributes.namespace",
          resourceAttributes.namespace ?? "",
          "must match metadata.namespace",
        ),
      );
    }
    return errors;
  },
  status: (object, asker) => decide(asker, subjectOf(specOf(object)), specOf(object)),
};

export const rulesReview: Review = {
  status(object, { authorizer, user }) {
    const namespace = String((object.spec as JsonObject | undefined)?.namespace ?? "");
    const { rules, errors } = authorizer.rules(user, namespace);
    return {
      resourceRules: rules
        .filter(({ resources }) => resources?.length)
        .map(({ verbs, apiGroups, resources, resourceNames }) => ({
          verbs,
          apiGroups,
          resources,
          ...(resourceNames?.length ? { resourceNames } : {}),
        })),
      nonResourceRules: rules
        .filter(({ nonResourceURLs }) => nonResourceURLs?.length)
        .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
      incomplete: errors.length > 0,
      ...(errors.length > 0 ? { evaluationError: errors.join(", ") } : {}),
    };
  },
};
