/** Lease and LeaseCandidate, as with the feature gate CoordinatedLeaderElection enabled. */
import { ageColumn, type Kind, nameColumn, section } from "../kind.ts";
import { isConfigMapKey, isDnsSubdomain, isQualifiedName } from "../name-rules.ts";
import type { ApiObject } from "../object.ts";
import { type FieldError, field } from "../status.ts";
import { immutable } from "../validate.ts";

interface LeaseSpec {
  leaseDurationSeconds?: number;
  leaseTransitions?: number;
  strategy?: string;
  preferredHolder?: string;
}

export const lease: Kind = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  singular: "lease",
  namespaced: true,
  type: "api.coordination.v1.Lease",
  storage: "leases",
  name: isDnsSubdomain,
  createOnUpdate: true,
  unconditionalUpdate: false,
  columns: [
    nameColumn,
    { name: "Holder", cell: (object) => section(object, "spec").holderIdentity ?? "" },
    ageColumn,
  ],
  validate(object) {
    const spec = (object.spec ?? {}) as LeaseSpec;
    const errors: FieldError[] = [];
    if (spec.leaseDurationSeconds !== undefined && spec.leaseDurationSeconds <= 0) {
      errors.push(
        field.invalid("spec.leaseDurationSeconds", spec.leaseDurationSeconds, "must be greater than 0"),
      );
    }
    if (spec.leaseTransitions !== undefined && spec.leaseTransitions < 0) {
      errors.push(
        field.invalid("spec.leaseTransitions", spec.leaseTransitions, "must be greater than or equal to 0"),
      );
    }
    if (spec.strategy !== undefined) errors.push(...validateStrategy(spec.strategy));
    if (spec.preferredHolder && !spec.strategy) {
      errors.push(field.forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined"));
    }
    return errors;
  },
};

interface LeaseCandidateSpec {
  leaseName?: string;
  binaryVersion?: string;
  emulationVersion?: string;
  strategy?: string;
}

export const leaseCandidate: Kind = {
  group: "coordination.k8s.io",
  version: "v1beta1",
  kind: "LeaseCandidate",
  plural: "leasecandidates",
  singular: "leasecandidate",
  namespaced: true,
  type: "api.coordination.v1beta1.LeaseCandidate",
  storage: "leasecandidates",
  name: isConfigMapKey,
  createOnUpdate: true,
  unconditionalUpdate: false,
  selectable: { "spec.leaseName": (object) => String(section(object, "spec").leaseName ?? "") },
  columns: [
    nameColumn,
    { name: "LeaseName", cell: (object) => section(object, "spec").leaseName },
    { name: "BinaryVersion", cell: (object) => section(object, "spec").binaryVersion },
    { name: "EmulationVersion", cell: (object) => section(object, "spec").emulationVersion ?? "" },
    ageColumn,
  ],
  validate(object, old) {
    const spec = (object.spec ?? {}) as LeaseCandidateSpec;
    const errors: FieldError[] = [];
    if (!spec.leaseName) errors.push(field.required("spec.leaseName"));
    const emulation = validateVersion("spec.emulationVersion", spec.emulationVersion, errors);
    if (!spec.binaryVersion) errors.push(field.required("spec.binaryVersion"));
    const binary = validateVersion("spec.binaryVersion", spec.binaryVersion, errors);
    if (binary && emulation && compareVersions(binary, emulation) < 0) {
      const why = "must be greater than or equal to `emulationVersion`";
      errors.push(field.invalid("spec.binaryVersion", spec.binaryVersion, why));
    }
    if (!spec.strategy) {
      errors.push(field.required("spec.strategy"));
    } else {
      if (spec.strategy === "OldestEmulationVersion" && !emulation) {
        const why = "must be specified when `strategy` is 'OldestEmulationVersion'";
        errors.push(field.required("spec.emulationVersion", why));
      }
      errors.push(...validateStrategy(spec.strategy));
    }
    if (old && spec.leaseName !== leaseNameOf(old)) errors.push(immutable("spec.leaseName", spec.leaseName));
    return errors;
  },
};

const leaseNameOf = (object: ApiObject) => section(object, "spec").leaseName;

/** kube-apiserver repeats "strategy" in this path too. */
function validateStrategy(strategy: string): FieldError[] {
  const path = "spec.strategy.strategy";
  if (strategy.includes("/"))
    return isQualifiedName(strategy).map((why) => field.invalid(path, strategy, why));
  return strategy === "OldestEmulationVersion"
    ? []
    : [field.notSupported(path, strategy, ["OldestEmulationVersion"])];
}

function validateVersion(
  path: string,
  version: string | undefined,
  errors: FieldError[],
): number[] | undefined {
  if (!version) return undefined;
  const match = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/.exec(
    version,
  );
  if (match === null) errors.push(field.invalid(path, version, "must be a valid semantic version"));
  return match?.slice(1, 4).map(Number);
}

function compareVersions(a: number[], b: number[]): number {
  const index = a.findIndex((part, position) => part !== b[position]);
  return index < 0 ? 0 : (a[index] as number) - (b[index] as number);
}
