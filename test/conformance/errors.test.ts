import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { configMap, configMapsIn, connect, lease, leasesIn, type Target } from "./target.ts";

let target: Target;
let namespace: string;
let leases: string;

beforeAll(async () => {
  target = await connect();
});
afterAll(() => target.close());
beforeEach(async () => {
  namespace = await target.namespace();
  leases = leasesIn(namespace);
});

test("a missing object gets a Status that names it", async () => {
  const { status, body, headers } = await target.request("GET", `${leases}/none`);
  expect(status).toBe(404);
  expect(headers["content-type"]).toBe("application/json");
  expect(body).toEqual({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: 'leases.coordination.k8s.io "none" not found',
    reason: "NotFound",
    details: { name: "none", group: "coordination.k8s.io", kind: "leases" },
    code: 404,
  });
});

const UNRECOGNIZED =
  "the object provided is unrecognized (must be of type Lease): couldn't get version/kind; json parse error: ";
test.each([
  ["{", "unexpected end of JSON input ({)"],
  ['{"a":}', `invalid character '}' looking for beginning of value ({"a":})`],
  ["{a:1}", "invalid character 'a' looking for beginning of object key string ({a:1})"],
  ['{"a" 1}', `invalid character '1' after object key ({"a" 1})`],
  ['{"a":1} x', `invalid character 'x' after top-level value ({"a":1} x)`],
  ['{"a":01}', `invalid character '1' after object key:value pair ({"a":01})`],
  ['{"a":"\\x"}', `invalid character 'x' in string escape code ({"a":"\\x"})`],
  [
    "5",
    'json: cannot unmarshal number into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (35)',
  ],
])("the body %s is rejected with the message of Go's JSON decoder", async (text, why) => {
  const { status, body } = await target.request("POST", leases, text);
  expect(status).toBe(400);
  expect(body.message).toBe(UNRECOGNIZED + why);
});

test("an object of another kind or version is rejected", async () => {
  const kind = await target.request("POST", leases, configMap("a"));
  expect(kind.status).toBe(400);
  expect(kind.body.message).toBe(
    'ConfigMap in version "v1" cannot be handled as a Lease: converting (v1.ConfigMap) to (coordination.Lease): unknown conversion',
  );
  const version = await target.request("POST", leases, {
    ...lease("a"),
    apiVersion: "coordination.k8s.io/v1beta1",
  });
  expect(version.body.message).toBe(
    "the API version in the data (coordination.k8s.io/v1beta1) does not match the expected API version (coordination.k8s.io/v1)",
  );
});

test("a field manager with unprintable characters is rejected", async () => {
  const manager = encodeURIComponent("é\u{c11e6}\n");
  const { status, body } = await target.request("POST", `${leases}?fieldManager=${manager}`, lease("a"));
  expect(status).toBe(422);
  const invalid = String.raw`fieldManager: Invalid value: "é\U000c11e6\n": invalid character`;
  expect(body.message).toBe(
    `CreateOptions.meta.k8s.io "" is invalid: [${invalid} U+C11E6 (at position 2), ${invalid} U+000A (at position 6)]`,
  );
});

test("kind and apiVersion can be omitted", async () => {
  expect((await target.request("POST", leases, { metadata: { name: "a" } })).status).toBe(201);
});

test("a body in an unknown format gets 415, and YAML is accepted", async () => {
  const unknown = await target.request("POST", leases, lease("a"), { contentType: "text/plain" });
  expect(unknown.status).toBe(415);
  expect(unknown.body.message).toBe(
    "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
  );
  const yaml = "metadata:\n  name: from-yaml\nspec:\n  holderIdentity: x\n";
  const read = await target.request("POST", leases, yaml, { contentType: "application/yaml" });
  expect(read.status).toBe(201);
  expect(read.body.spec.holderIdentity).toBe("x");
});

test("an Accept header without a supported format gets 406", async () => {
  const { status, body } = await target.request("GET", leases, undefined, { accept: "text/plain" });
  expect(status).toBe(406);
  expect(body.reason).toBe("NotAcceptable");
});

test("a body that is too large gets 413, and the connection survives", async () => {
  const { status, body } = await target.request(
    "POST",
    configMapsIn(namespace),
    configMap("big", { a: "x".repeat(3_200_000) }),
  );
  expect(status).toBe(413);
  expect(body.reason).toBe("RequestEntityTooLarge");
  expect((await target.request("GET", leases)).status).toBe(200);
});

test("a ConfigMap of more than a mebibyte is invalid", async () => {
  const { status, body } = await target.request(
    "POST",
    configMapsIn(namespace),
    configMap("big", { a: "x".repeat(1_048_577) }),
  );
  expect(status).toBe(422);
  const limit = (await target.minor()) >= 32 ? "may not be more than" : "must have at most";
  expect(body.message).toBe(`ConfigMap "big" is invalid: []: Too long: ${limit} 1048576 bytes`);
});

test.each([
  ["A", "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'"],
  ["a_b", "a lowercase RFC 1123 subdomain"],
  ["..", "a lowercase RFC 1123 subdomain"],
  ["x".repeat(254), "must be no more than 253 characters"],
  ["", "metadata.name: Required value: name or generateName is required"],
])("the name %s is invalid", async (name, why) => {
  const { status, body } = await target.request("POST", leases, lease(name));
  expect(status).toBe(422);
  expect(body.message).toContain(why);
});

test.each([
  [
    { labels: { "a b": "c" } },
    "metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.'",
  ],
  [
    { labels: { a: "b c" } },
    'metadata.labels: Invalid value: "b c": a valid label must be an empty string or consist of alphanumeric characters',
  ],
  [{ annotations: { "a b": "c" } }, 'metadata.annotations: Invalid value: "a b": name part must consist of'],
  [{ finalizers: ["a b"] }, 'metadata.finalizers: Invalid value: "a b": name part must consist of'],
  [
    { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p" }] },
    'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
  ],
])("the metadata %j is invalid", async (metadata, why) => {
  const { status, body } = await target.request("POST", leases, lease("a", {}, metadata));
  expect(status).toBe(422);
  // Older servers repeat the name of the field.
  expect(body.message.replace('"": uid must', '"": must')).toContain(why);
});

test("a name with path traversal is rejected", async () => {
  const { status, body } = await target.request("GET", `${configMapsIn(namespace)}/%2e%2e`);
  expect(status).toBe(400);
  expect(body.message).toBe(`Name parameter invalid: "..": may not be '..'`);
  const climbing = await target.request("GET", `${configMapsIn(namespace)}/..%2f..%2fsecrets`);
  expect(climbing.status).toBe(404);
});

test("the namespace in the body must match the path", async () => {
  const { status, body } = await target.request("POST", leases, lease("a", {}, { namespace: "other" }));
  expect(status).toBe(400);
  expect(body.message).toBe(
    "the namespace of the provided object does not match the namespace sent on the request",
  );
});

test("the name in the body must match the path", async () => {
  const { status, body } = await target.request("PUT", `${leases}/a`, lease("b"));
  expect(status).toBe(400);
  expect(body.message).toBe("the name of the object (b) does not match the name on the URL (a)");
});

test("no object can be created in a namespace that does not exist", async () => {
  const { status, body } = await target.request("POST", leasesIn("there-is-no-such-namespace"), lease("a"));
  expect(status).toBe(404);
  expect(body).toMatchObject({
    reason: "NotFound",
    message: 'namespaces "there-is-no-such-namespace" not found',
  });
});

test("an unsupported method gets 405", async () => {
  for (const [method, path] of [
    ["PUT", leases],
    ["POST", `${leases}/a`],
    ["DELETE", "/api/v1/configmaps"],
  ] as const) {
    const { status, body } = await target.request(method, path, method === "DELETE" ? undefined : lease("a"));
    expect(status).toBe(405);
    expect(body).toMatchObject({
      reason: "MethodNotAllowed",
      message: "the server does not allow this method on the requested resource",
    });
  }
});

test("unknown paths get 404: a Status below the API, text elsewhere", async () => {
  const resource = await target.request("GET", `/api/v1/namespaces/${namespace}/foos`);
  expect(resource.status).toBe(404);
  expect(resource.body).toMatchObject({
    reason: "NotFound",
    message: "the server could not find the requested resource",
  });
  const page = await target.request("GET", "/foo");
  expect(page.status).toBe(404);
  expect(page.body).toBe("404 page not found\n");
});

test("the health paths need no credentials", async () => {
  for (const path of ["/healthz", "/livez", "/readyz"]) {
    const { status, body } = await target.request("GET", path, undefined, { token: "" });
    expect([status, body]).toEqual([200, "ok"]);
  }
});

test("strict decoding names unknown and duplicate fields in the order of the body", async () => {
  const text =
    '{"metadata":{"name":"a","name":"b"},"foo":1,"spec":{"holderIdentity":"x","bar":1,"holderIdentity":"y"},"zip":2}';
  const { status, body } = await target.request("POST", `${leases}?fieldValidation=Strict`, text);
  expect(status).toBe(400);
  expect(body.message).toContain(
    'strict decoding error: duplicate field "metadata.name", unknown field "foo", unknown field "spec.bar", duplicate field "spec.holderIdentity", unknown field "zip"',
  );
});

test("a review cannot be a table", async () => {
  const review = { spec: { resourceAttributes: { verb: "get", resource: "pods" } } };
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const accept = "application/json;as=Table;g=meta.k8s.io;v=v1";
  const { status, body } = await target.request("POST", path, review, { accept });
  expect(status).toBe(406);
  expect(body.message).toContain("only the following media types are accepted: application/json");
  const either = await target.request("POST", path, review, { accept: `${accept},application/json` });
  expect(either.status).toBe(201);
});
