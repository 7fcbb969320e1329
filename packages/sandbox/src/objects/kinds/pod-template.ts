/**
 * Defaults and validation of pod specs, shared by Pod, ReplicaSet and Deployment. Validation covers only the rules of
 * Kubernetes that manifests often break.
 */
import { isDnsLabel } from "../name-rules.ts";
import type { JsonObject } from "../object.ts";
import { type FieldError, field } from "../status.ts";

export interface Container extends JsonObject {
  name?: string;
  image?: string;
  ports?: JsonObject[];
  livenessProbe?: JsonObject;
  readinessProbe?: JsonObject;
  startupProbe?: JsonObject;
  env?: { name?: string; valueFrom?: { fieldRef?: JsonObject } }[];
}

export interface PodSpec extends JsonObject {
  containers?: Container[];
  initContainers?: Container[];
  nodeName?: string;
  restartPolicy?: string;
  serviceAccountName?: string;
  volumes?: JsonObject[];
}

export function defaultPodSpec(spec: PodSpec): PodSpec {
  const out: PodSpec = { ...spec };
  out.containers = (spec.containers ?? []).map(defaultContainer);
  if (spec.initContainers) out.initContainers = spec.initContainers.map(defaultContainer);
  if (spec.volumes) out.volumes = spec.volumes.map(defaultVolume);
  out.restartPolicy ??= "Always";
  out.terminationGracePeriodSeconds ??= 30;
  out.dnsPolicy ??= "ClusterFirst";
  out.securityContext ??= {};
  out.schedulerName ??= "default-scheduler";
  if (spec.serviceAccountName) out.serviceAccount ??= spec.serviceAccountName;
  return out;
}

function defaultContainer(container: Container): Container {
  const out: Container = { ...container };
  out.terminationMessagePath ??= "/dev/termination-log";
  out.terminationMessagePolicy ??= "File";
  const image = (container.image ?? "").split("/").at(-1) as string;
  const latest = !image.includes("@") && (!image.includes(":") || image.endsWith(":latest"));
  out.imagePullPolicy ??= latest ? "Always" : "IfNotPresent";
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"] as const) {
    if (!container[probe]) continue;
    const defaults = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
    const set = { ...defaults, ...container[probe] } as JsonObject;
    if (set.httpGet) set.httpGet = { path: "/", scheme: "HTTP", ...(set.httpGet as JsonObject) };
    out[probe] = set;
  }
  if (container.env) {
    out.env = container.env.map((variable) =>
      variable.valueFrom?.fieldRef
        ? {
            ...variable,
            valueFrom: {
              ...variable.valueFrom,
              fieldRef: { apiVersion: "v1", ...variable.valueFrom.fieldRef },
            },
          }
        : variable,
    );
  }
  return out;
}

function defaultVolume(volume: JsonObject): JsonObject {
  if (volume.hostPath) return { ...volume, hostPath: { type: "", ...(volume.hostPath as JsonObject) } };
  for (const source of ["configMap", "secret", "projected", "downwardAPI"]) {
    if (volume[source])
      return { ...volume, [source]: { defaultMode: 420, ...(volume[source] as JsonObject) } };
  }
  return Object.keys(volume).length === 1 ? { ...volume, emptyDir: {} } : volume;
}

const pullPolicies = ["Always", "IfNotPresent", "Never"];
const restartPolicies = ["Always", "OnFailure", "Never"];

export function validatePodSpec(spec: PodSpec, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!spec.containers?.length) errors.push(field.required(`${path}.containers`));
  const names = new Set<string>();
  for (const list of ["initContainers", "containers"] as const) {
    for (const [index, container] of (spec[list] ?? []).entries()) {
      errors.push(...validateContainer(container, `${path}.${list}[${index}]`, names));
    }
  }
  if (spec.restartPolicy && !restartPolicies.includes(spec.restartPolicy)) {
    errors.push(field.notSupported(`${path}.restartPolicy`, spec.restartPolicy, restartPolicies));
  }
  return errors;
}

function validateContainer(container: Container, path: string, names: Set<string>): FieldError[] {
  const errors: FieldError[] = [];
  const { name, image, imagePullPolicy } = container;
  if (!name) errors.push(field.required(`${path}.name`));
  else {
    errors.push(...isDnsLabel(name).map((why) => field.invalid(`${path}.name`, name, why)));
    if (names.has(name)) errors.push(field.duplicate(`${path}.name`, name));
    names.add(name);
  }
  if (!image) errors.push(field.required(`${path}.image`));
  if (imagePullPolicy && !pullPolicies.includes(String(imagePullPolicy))) {
    errors.push(field.notSupported(`${path}.imagePullPolicy`, imagePullPolicy, pullPolicies));
  }
  for (const [index, { containerPort }] of (container.ports ?? []).entries()) {
    if (!containerPort) errors.push(field.required(`${path}.ports[${index}].containerPort`));
    else if (Number(containerPort) < 1 || Number(containerPort) > 65535) {
      errors.push(
        field.invalid(
          `${path}.ports[${index}].containerPort`,
          containerPort,
          "must be between 1 and 65535, inclusive",
        ),
      );
    }
  }
  return errors;
}
