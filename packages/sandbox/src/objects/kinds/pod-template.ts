/**
 * Defaults and validation of pod specs, shared by Pod, ReplicaSet and Deployment. Validation covers only the rules of
 * Kubernetes that manifests often break.
 */
import { validatePortNumber, validateProtocol } from "../addresses.ts";
import { isDnsLabel, isPortName } from "../name-rules.ts";
import type { JsonObject } from "../object.ts";
import { compareQuantities } from "../quantity.ts";
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
  const volumes = new Set((spec.volumes ?? []).map(({ name }) => String(name)));
  for (const list of ["initContainers", "containers"] as const) {
    for (const [index, container] of (spec[list] ?? []).entries()) {
      errors.push(...validateContainer(container, `${path}.${list}[${index}]`, names, volumes));
    }
  }
  if (spec.restartPolicy && !restartPolicies.includes(spec.restartPolicy)) {
    errors.push(field.notSupported(`${path}.restartPolicy`, spec.restartPolicy, restartPolicies));
  }
  return errors;
}

function validateContainer(
  container: Container,
  path: string,
  names: Set<string>,
  volumes: Set<string>,
): FieldError[] {
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
  return [
    ...errors,
    ...validatePorts(container, path),
    ...validateEnvironment(container, path),
    ...validateMounts(container, path, volumes),
    ...validateResources(container, path),
  ];
}

interface ContainerPort {
  name?: string;
  containerPort?: number;
  protocol?: string;
}

function validatePorts(container: Container, path: string): FieldError[] {
  const names = new Set<string>();
  return ((container.ports ?? []) as ContainerPort[]).flatMap((port, index) => {
    const { name, containerPort, protocol } = port;
    const at = `${path}.ports[${index}]`;
    const errors: FieldError[] = [];
    if (name) {
      errors.push(...isPortName(name).map((why) => field.invalid(`${at}.name`, name, why)));
      if (names.has(name)) errors.push(field.duplicate(`${at}.name`, name));
      names.add(name);
    }
    if (!containerPort) errors.push(field.required(`${at}.containerPort`));
    else errors.push(...validatePortNumber(`${at}.containerPort`, containerPort));
    return [...errors, ...validateProtocol(`${at}.protocol`, protocol ?? "TCP")];
  });
}

function validateEnvironment(container: Container, path: string): FieldError[] {
  return (container.env ?? []).flatMap(({ name }, index) => {
    const at = `${path}.env[${index}].name`;
    if (!name) return [field.required(at)];
    const why =
      "a valid environment variable name must consist only of printable ASCII characters other than '='";
    return /^[ -<>-~]+$/.test(name) ? [] : [field.invalid(at, name, why)];
  });
}

interface VolumeMount {
  name?: string;
  mountPath?: string;
}

function validateMounts(container: Container, path: string, volumes: Set<string>): FieldError[] {
  return ((container.volumeMounts ?? []) as VolumeMount[]).flatMap(({ name, mountPath }, index) => {
    const at = `${path}.volumeMounts[${index}]`;
    const errors: FieldError[] = [];
    if (!name) errors.push(field.required(`${at}.name`));
    else if (!volumes.has(name)) errors.push(field.notFound(`${at}.name`, name));
    if (!mountPath) errors.push(field.required(`${at}.mountPath`));
    return errors;
  });
}

function validateResources(container: Container, path: string): FieldError[] {
  const { limits = {}, requests = {} } = (container.resources ?? {}) as {
    limits?: Record<string, string>;
    requests?: Record<string, string>;
  };
  const errors: FieldError[] = [];
  for (const [list, amounts] of Object.entries({ limits, requests })) {
    for (const [name, amount] of Object.entries(amounts)) {
      if (compareQuantities(amount, "0") >= 0) continue;
      const at = `${path}.resources.${list}[${name}]`;
      errors.push(field.invalid(at, amount, "must be greater than or equal to 0"));
    }
  }
  for (const [name, amount] of Object.entries(requests)) {
    const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
    if (limit === undefined || compareQuantities(amount, limit) <= 0) continue;
    const why = `must be less than or equal to ${name} limit of ${limit}`;
    errors.push(field.invalid(`${path}.resources.requests`, amount, why));
  }
  return errors;
}
