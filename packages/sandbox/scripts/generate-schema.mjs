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

const files = [
  "api__v1",
  "apis__apps__v1",
  "apis__authentication.k8s.io__v1",
  "apis__authorization.k8s.io__v1",
  "apis__autoscaling__v1",
  "apis__coordination.k8s.io__v1",
  "apis__coordination.k8s.io__v1beta1",
  "apis__discovery.k8s.io__v1",
  "apis__events.k8s.io__v1",
  "apis__rbac.authorization.k8s.io__v1",
];
const core = "Namespace ConfigMap Secret ServiceAccount Pod Service Endpoints Event Node Binding".split(" ");
const roots = [
  ...core.map((kind) => `api.core.v1.${kind}`),
  ..."Deployment ReplicaSet".split(" ").map((kind) => `api.apps.v1.${kind}`),
  ..."TokenRequest TokenReview SelfSubjectReview".split(" ").map((kind) => `api.authentication.v1.${kind}`),
  ..."SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview LocalSubjectAccessReview"
    .split(" ")
    .map((kind) => `api.authorization.v1.${kind}`),
  ..."Role RoleBinding ClusterRole ClusterRoleBinding".split(" ").map((kind) => `api.rbac.v1.${kind}`),
  "api.autoscaling.v1.Scale",
  "api.coordination.v1.Lease",
  "api.coordination.v1beta1.LeaseCandidate",
  "api.discovery.v1.EndpointSlice",
  "api.events.v1.Event",
  "apimachinery.pkg.apis.meta.v1.DeleteOptions",
  "apimachinery.pkg.apis.meta.v1.ListMeta",
  "apimachinery.pkg.apis.meta.v1.Status",
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
  ...[
    "core",
    "apps",
    "authentication",
    "authorization",
    "autoscaling",
    "coordination",
    "discovery",
    "events",
    "rbac",
  ].map((group) => [`api.${group}.v1`, join(api, group, "v1/types.go")]),
  ["api.coordination.v1beta1", join(api, "coordination/v1beta1/types.go")],
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
  ...[
    "core",
    "apps",
    "authentication",
    "authorization",
    "autoscaling",
    "coordination",
    "discovery",
    "events",
    "rbac",
  ].map((group) => join(api, group, "v1/generated.proto")),
  join(api, "coordination/v1beta1/generated.proto"),
  ...["apis/meta/v1", "util/intstr", "api/resource"].map((part) =>
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
