/** Access reviews: may a user do something? `kubectl auth can-i` uses them. */
import type { JsonObject } from "../objects/object.ts";
import { type FieldError, field } from "../objects/status.ts";
import type { Asker, Review } from "./review.ts";
import type { Attributes } from "./rules.ts";
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
