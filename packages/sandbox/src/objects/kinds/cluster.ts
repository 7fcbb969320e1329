/** Kinds for the whole cluster that the sandbox only stores: classes, priorities, certificate requests. */
import { type Kind, section } from "../kind.ts";
import { isPathSegment } from "../name-rules.ts";
import { type FieldError, field } from "../status.ts";
import { immutable } from "../validate.ts";
import { declare, fieldColumn, withColumns } from "./declare.ts";

/** User priorities are at most this. The two classes of the system are higher. */
const maxUserPriority = 1_000_000_000;

export const priorityClass: Kind = declare({
  group: "scheduling.k8s.io",
  kind: "PriorityClass",
  plural: "priorityclasses",
  shortNames: ["pc"],
  namespaced: false,
  generation: true,
  columns: withColumns(
    { name: "Value", type: "integer", cell: (object) => object.value ?? 0 },
    fieldColumn("Global-Default", "globalDefault", false),
    fieldColumn("PreemptionPolicy", "preemptionPolicy"),
  ),
  defaults: (object) => ({
    ...object,
    preemptionPolicy: object.preemptionPolicy ?? "PreemptLowerPriority",
  }),
  validate(object, old) {
    const errors: FieldError[] = [];
    const value = Number(object.value ?? 0);
    const name = object.metadata.name ?? "";
    if (!old && name.startsWith("system-")) {
      const why = "priority class names with 'system-' prefix are reserved for system use only";
      errors.push(field.forbidden("metadata.name", why));
    } else if (!old && value > maxUserPriority) {
      const why = `maximum allowed value of a user defined priority is ${maxUserPriority}`;
      errors.push(field.forbidden("value", why));
    }
    if (old && value !== Number(old.value ?? 0))
      errors.push(field.forbidden("value", "may not be changed in an update."));
    if (old && object.preemptionPolicy !== old.preemptionPolicy)
      errors.push(immutable("preemptionPolicy", object.preemptionPolicy));
    return errors;
  },
});

export const runtimeClass: Kind = declare({
  group: "node.k8s.io",
  kind: "RuntimeClass",
  namespaced: false,
  createOnUpdate: true,
  unconditionalUpdate: false,
  columns: withColumns(fieldColumn("Handler", "handler")),
});

interface Condition {
  type: string;
  status: string;
}

export const certificateSigningRequest: Kind = declare({
  group: "certificates.k8s.io",
  kind: "CertificateSigningRequest",
  shortNames: ["csr"],
  namespaced: false,
  name: isPathSegment,
  status: true,
  selectable: { "spec.signerName": (object) => String(section(object, "spec").signerName ?? "") },
  columns: withColumns(
    fieldColumn("SignerName", "spec.signerName"),
    fieldColumn("Requestor", "spec.username"),
    {
      name: "Condition",
      cell: (object) => {
        const { conditions = [], certificate } = section(object, "status") as {
          conditions?: Condition[];
          certificate?: string;
        };
        const types = conditions.map(({ type }) => type);
        return [...(types.length > 0 ? types : ["Pending"]), ...(certificate ? ["Issued"] : [])].join(",");
      },
    },
  ),
});
