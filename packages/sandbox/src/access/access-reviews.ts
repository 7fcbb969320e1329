/** May somebody do something? `kubectl auth can-i` asks it here. */

import type { JsonObject } from "../objects/object.ts";
import { type FieldError, field } from "../objects/status.ts";
import type { Context } from "../registry/context.ts";
import type { Review } from "../registry/reviews.ts";
import type { Attributes } from "./authorizer.ts";
import type { User } from "./user.ts";

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
const group = "authorization.k8s.io";

function attributesOf({ resourceAttributes: asked, nonResourceAttributes: path }: AccessSpec): Attributes {
  const {
    verb = "",
    version = "",
    resource = "",
    subresource,
    namespace = "",
    name = "",
    group: of = "",
  } = asked ?? {};
  if (!asked)
    return {
      verb: path?.verb ?? "",
      group: "",
      version: "",
      resource: "",
      namespace: "",
      name: "",
      path: path?.path ?? "",
    };
  return { verb, group: of, version, resource, ...(subresource ? { subresource } : {}), namespace, name };
}

function decide({ cluster }: Context, user: User, spec: AccessSpec): JsonObject {
  const { allowed, reason } = cluster.authorizer.authorize(user, attributesOf(spec));
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

const who = ({ user = "", groups = [], uid }: AccessSpec): User => ({
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
  group,
  kind: "SelfSubjectAccessReview",
  plural: "selfsubjectaccessreviews",
  namespaced: false,
  type: "api.authorization.v1.SelfSubjectAccessReview",
  validate: validateSpec,
  answer: (object, context) => decide(context, context.user, specOf(object)),
};

export const accessReview: Review = {
  group,
  kind: "SubjectAccessReview",
  plural: "subjectaccessreviews",
  namespaced: false,
  type: "api.authorization.v1.SubjectAccessReview",
  validate: validateUser,
  answer: (object, context) => decide(context, who(specOf(object)), specOf(object)),
};

export const localAccessReview: Review = {
  group,
  kind: "LocalSubjectAccessReview",
  plural: "localsubjectaccessreviews",
  namespaced: true,
  type: "api.authorization.v1.LocalSubjectAccessReview",
  validate(object, { info }) {
    const errors = validateUser(object);
    const { resourceAttributes } = specOf(object);
    if (resourceAttributes && resourceAttributes.namespace !== info.namespace) {
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
  answer: (object, context) => decide(context, who(specOf(object)), specOf(object)),
};

export const rulesReview: Review = {
  group,
  kind: "SelfSubjectRulesReview",
  plural: "selfsubjectrulesreviews",
  namespaced: false,
  type: "api.authorization.v1.SelfSubjectRulesReview",
  answer(object, { cluster, user }) {
    const namespace = String((object.spec as JsonObject | undefined)?.namespace ?? "");
    const { rules, errors } = cluster.authorizer.rules(user, namespace);
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
