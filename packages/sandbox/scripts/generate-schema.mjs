// Generates gen/*.json from the sources of a Kubernetes release, for the kinds that the sandbox serves:
//   node scripts/generate-schema.mjs v1.36.3 <k8s.io/kubernetes> <k8s.io/api> <k8s.io/apimachinery>
// The last three are the directories of the modules. `go mod download -json k8s.io/kubernetes@v1.36.3` prints them.
// There are three files because the sandbox reads each on first use: types.json (types, defaults, merge keys) for a write,
// descriptions.json for OpenAPI (kubectl explain), protobuf.json for a protobuf body.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [release, kubernetes, api, apimachinery] = process.argv.slice(2);
if (!release || !kubernetes || !api || !apimachinery) {
  console.error(
    "usage: node scripts/generate-schema.mjs <release> <k8s.io/kubernetes> <k8s.io/api> <k8s.io/apimachinery>",
  );
  process.exit(2);
}
const directory = join(kubernetes, "api/openapi-spec/v3");

/** The kinds by group and version. A group without a dot and without a domain is in the directory of its own name. */
const served = {
  v1: `Namespace ConfigMap Secret ServiceAccount Pod Service Endpoints Event Node Binding PodTemplate
    ReplicationController ResourceQuota LimitRange PersistentVolume PersistentVolumeClaim`,
  "admissionregistration.k8s.io/v1": `ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
    ValidatingWebhookConfiguration MutatingWebhookConfiguration`,
  "apps/v1": "Deployment ReplicaSet StatefulSet DaemonSet ControllerRevision",
  "authentication.k8s.io/v1": "TokenRequest TokenReview SelfSubjectReview",
  "authorization.k8s.io/v1": `SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview
    LocalSubjectAccessReview`,
  "autoscaling/v1": "Scale",
  "autoscaling/v2": "HorizontalPodAutoscaler",
  "batch/v1": "Job CronJob",
  "certificates.k8s.io/v1": "CertificateSigningRequest",
  "coordination.k8s.io/v1": "Lease",
  "coordination.k8s.io/v1beta1": "LeaseCandidate",
  "discovery.k8s.io/v1": "EndpointSlice",
  "events.k8s.io/v1": "Event",
  "networking.k8s.io/v1": "NetworkPolicy Ingress IngressClass IPAddress ServiceCIDR",
  "node.k8s.io/v1": "RuntimeClass",
  "policy/v1": "PodDisruptionBudget Eviction",
  "rbac.authorization.k8s.io/v1": "Role RoleBinding ClusterRole ClusterRoleBinding",
  "resource.k8s.io/v1": "ResourceClaim ResourceClaimTemplate ResourceSlice DeviceClass",
  "scheduling.k8s.io/v1": "PriorityClass",
  "storage.k8s.io/v1": `StorageClass CSINode CSIDriver CSIStorageCapacity VolumeAttachment VolumeAttributesClass`,
};
const metaKinds = ["DeleteOptions", "ListMeta", "Status"];

/** admissionregistration.k8s.io/v1 is admissionregistration and v1 in the names of types and directories. */
const groups = Object.keys(served).map((groupVersion) => {
  const [version, group = "core"] = groupVersion.split("/").reverse();
  return { groupVersion, version, group: group.split(".")[0] };
});
const files = groups.map(({ groupVersion }) =>
  groupVersion.includes("/") ? `apis__${groupVersion.replace("/", "__")}` : `api__${groupVersion}`,
);
const roots = [
  ...groups.flatMap(({ groupVersion, version, group }) =>
    served[groupVersion].split(/\s+/).map((kind) => `api.${group}.${version}.${kind}`),
  ),
  ...metaKinds.map((kind) => `apimachinery.pkg.apis.meta.v1.${kind}`),
].map((name) => `io.k8s.${name}`);

const all = Object.assign(
  {},
  ...files.map(
    (file) => JSON.parse(readFileSync(join(directory, `${file}_openapi.json`), "utf8")).components.schemas,
  ),
);

const types = {};
const descriptions = {};
const shorten = (name) => name.replace(/^io\.k8s\./, "");
const queue = [...roots];
while (queue.length > 0) {
  const name = queue.pop();
  const short = shorten(name);
  if (types[short]) continue;
  if (!all[name]) throw new Error(`no schema ${name}`);
  const texts = {};
  types[short] = compact(all[name], texts, "");
  descriptions[short] = texts;
}

/** Drops what the sandbox does not read, unwraps allOf around a $ref, and moves the descriptions to `texts`. */
function compact(schema, texts, path) {
  if (schema.description) texts[path] = schema.description;
  const reference = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0].$ref : undefined);
  const out = {};
  if (reference) {
    const target = reference.replace("#/components/schemas/", "");
    queue.push(target);
    out.$ref = shorten(target);
  }
  for (const [key, value] of Object.entries(schema)) {
    if (["type", "format", "default", "required", "oneOf", "enum"].includes(key)) out[key] = value;
    if (key.startsWith("x-kubernetes-") && key !== "x-kubernetes-group-version-kind") out[key] = value;
    if (key === "items") out.items = compact(value, texts, `${path}[]`);
    if (key === "additionalProperties") out.additionalProperties = compact(value, texts, `${path}{}`);
  }
  if (schema.properties) {
    out.properties = {};
    for (const [key, value] of Object.entries(schema.properties)) {
      out.properties[key] = compact(value, texts, path ? `${path}.${key}` : key);
    }
  }
  return out;
}

// ---- scalars that are pointers in types.go: Kubernetes keeps their empty values, and omits those of other scalars ----

const GO_FILES = [
  ...groups.map(({ group, version }) => [`api.${group}.${version}`, join(api, group, version, "types.go")]),
  ["apimachinery.pkg.apis.meta.v1", join(apimachinery, "pkg/apis/meta/v1/types.go")],
];
for (const [prefix, file] of GO_FILES) {
  for (const [, name, body] of readFileSync(file, "utf8").matchAll(
    /^type (\w+) struct \{\n([\s\S]*?)^\}/gm,
  )) {
    for (const [, field] of body.matchAll(/^\t\w+\s+\*\S+\s+`json:"(\w+)/gm)) {
      const property = types[`${prefix}.${name}`]?.properties?.[field];
      if (property && !property.$ref) property.pointer = true;
    }
  }
}

// ---- field numbers, from generated.proto ----

const PROTO_FILES = [
  ...groups.map(({ group, version }) => join(api, group, version, "generated.proto")),
  ...["apis/meta/v1", "util/intstr", "api/resource", "runtime"].map((part) =>
    join(apimachinery, "pkg", part, "generated.proto"),
  ),
];
const SCALARS = ["string", "bytes", "bool", "int32", "int64", "double"];

/** Maps message and field number to [field, type]. A type begins with `[]` for a list and `{}` for a map. */
const messages = {};
for (const file of PROTO_FILES) {
  const text = readFileSync(file, "utf8").replace(/\/\/.*$/gm, "");
  const name = /^package (\S+);/m.exec(text)[1];
  const full = (type) => {
    if (SCALARS.includes(type)) return type;
    const absolute = type.startsWith(".")
      ? type.slice(1)
      : type.startsWith("k8s.io.")
        ? type
        : `${name}.${type}`;
    return absolute.replace(/^k8s\.io\./, "");
  };
  for (const [, message, body] of text.matchAll(/^message (\w+) \{([^}]*)\}/gm)) {
    const fields = {};
    for (const [, label, type, field, number] of body.matchAll(
      /^\s*(optional|repeated|map<string, ?)\s*([\w.]+)>?\s+(\w+) = (\d+);/gm,
    )) {
      const prefix = label === "repeated" ? "[]" : label.startsWith("map") ? "{}" : "";
      fields[number] = [field, prefix + full(type)];
    }
    messages[full(message)] = fields;
  }
}
const protobuf = {};
const wanted = Object.keys(types);
while (wanted.length > 0) {
  const name = wanted.pop();
  if (protobuf[name] || !messages[name]) continue;
  protobuf[name] = messages[name];
  for (const [, type] of Object.values(messages[name])) wanted.push(type.replace(/^(\[\]|\{\})/, ""));
}

const sorted = (map) =>
  Object.fromEntries(
    Object.keys(map)
      .sort()
      .map((key) => [key, map[key]]),
  );
const write = (file, value) =>
  writeFileSync(new URL(`../gen/${file}`, import.meta.url), `${JSON.stringify(value)}\n`);
write("types.json", { release, types: sorted(types) });
write("descriptions.json", sorted(descriptions));
write("protobuf.json", sorted(protobuf));
console.log(`${Object.keys(types).length} types of Kubernetes ${release}`);
