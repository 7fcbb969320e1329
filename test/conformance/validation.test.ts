// Rules for the contents of objects that clients rely on, and that a server without them would store for ever.
import { afterAll, beforeAll, expect, test } from "vitest";
import { APPLY_PATCH, configMap, configMapsIn, connect, lease, leasesIn, type Target } from "./target.ts";

let target: Target;
let namespace: string;

beforeAll(async () => {
  target = await connect();
  namespace = await target.namespace();
});
afterAll(() => target.close());

test("a finalizer needs a domain, except in a few groups", async () => {
  const metadata = { finalizers: ["example.com/good", "bad"] };
  const { status, body } = await target.request(
    "POST",
    configMapsIn(namespace),
    configMap("finalizers", {}, metadata),
  );
  expect(status).toBe(422);
  expect(body.message).toBe(
    'ConfigMap "finalizers" is invalid: metadata.finalizers[1]: Invalid value: "bad": name is neither a standard finalizer name nor is it fully qualified',
  );
  const other = await target.request("POST", leasesIn(namespace), lease("finalizers", {}, metadata));
  expect(other.status).toBe(201);
});

test.each([
  ["kubernetes.io/tls", "[data[tls.crt]: Required value, data[tls.key]: Required value]"],
  ["kubernetes.io/ssh-auth", "data[ssh-privatekey]: Required value"],
  ["kubernetes.io/basic-auth", "[data[username]: Required value, data[password]: Required value]"],
  ["kubernetes.io/dockerconfigjson", "data[.dockerconfigjson]: Required value"],
  [
    "kubernetes.io/service-account-token",
    "metadata.annotations[kubernetes.io/service-account.name]: Required value",
  ],
])("a secret of type %s needs its keys", async (type, problem) => {
  const secret = { metadata: { name: "s" }, type };
  const { status, body } = await target.request("POST", `/api/v1/namespaces/${namespace}/secrets`, secret);
  expect(status).toBe(422);
  expect(body.message).toBe(`Secret "s" is invalid: ${problem}`);
});

test.each(["1e1", "15.0", "15.5", "2147483648", "-2147483649", "1E400"])(
  "the number %s is not a 32-bit integer",
  async (number) => {
    const text = `{"metadata":{"name":"n"},"spec":{"leaseDurationSeconds":${number}}}`;
    const { status, body } = await target.request("POST", leasesIn(namespace), text);
    expect(status).toBe(400);
    expect(body.message).toBe(
      `Lease in version "v1" cannot be handled as a Lease: json: cannot unmarshal number ${number} into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32`,
    );
  },
);

test("the largest 32-bit integer is accepted, and an integer of more than 64 bits is not", async () => {
  const large = lease("large", { leaseDurationSeconds: 2147483647 });
  expect((await target.request("POST", leasesIn(namespace), large)).status).toBe(201);
  const text =
    '{"metadata":{"name":"p"},"spec":{"terminationGracePeriodSeconds":92233720368547758080,"containers":[{"name":"c","image":"i"}]}}';
  const { status, body } = await target.request("POST", `/api/v1/namespaces/${namespace}/pods`, text);
  expect(status).toBe(400);
  expect(body.message).toContain("cannot unmarshal number 92233720368547758080");
});

test("an applied list cannot have two items with one key", async () => {
  const port = { port: 80, protocol: "TCP" };
  const service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "dup" },
    spec: { ports: [port, { ...port, name: "b" }] },
  };
  const path = `/api/v1/namespaces/${namespace}/services/dup?fieldManager=m`;
  const { status, body } = await target.request("PATCH", path, service, APPLY_PATCH);
  expect(status).toBe(500);
  expect(body.message).toBe(
    'failed to create typed patch object (/dup; /v1, Kind=Service): .spec.ports: duplicate entries for key [port=80,protocol="TCP"]',
  );
});

const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const loopback = "may not be in the loopback range (127.0.0.0/8, ::1/128)";
const noAddress = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

test("an EndpointSlice needs addresses that can be reached, and names for its ports", async () => {
  const slice = {
    metadata: { name: "s" },
    addressType: "IPv4",
    endpoints: [
      { addresses: ["127.0.0.1"] },
      { addresses: ["10.0.0.300"] },
      { addresses: ["::2"] },
      { addresses: ["0.0.0.0"] },
      { addresses: ["10.0.0.1"], hostname: "A_b" },
    ],
    ports: [
      { name: "A_B", port: 80 },
      { name: "x", port: 1, protocol: "FOO" },
      { name: "x", port: 2 },
    ],
  };
  const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
  const { status, body } = await target.request("POST", path, slice);
  expect(status).toBe(422);
  const problems = [
    `ports[0].name: Invalid value: "A_B": ${label}`,
    'ports[1].protocol: Unsupported value: "FOO": supported values: "SCTP", "TCP", "UDP"',
    'ports[2].name: Duplicate value: "x"',
    `endpoints[0].addresses[0]: Invalid value: "127.0.0.1": ${loopback}`,
    `endpoints[1].addresses[0]: Invalid value: "10.0.0.300": ${noAddress}`,
    'endpoints[2].addresses: Invalid value: "::2": must be an IPv4 address',
    'endpoints[3].addresses[0]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
    `endpoints[4].hostname: Invalid value: "A_b": ${label}`,
  ];
  expect(body.message).toBe(`EndpointSlice.discovery.k8s.io "s" is invalid: [${problems.join(", ")}]`);
});

test("Endpoints need addresses that can be reached, and names for their ports", async () => {
  const addresses = [{ ip: "127.0.0.1" }, { ip: "10.0.0.300" }, { ip: "fe80::1" }];
  const ports = [{ name: "A_B", port: 80 }, { port: 0 }];
  const endpoints = { metadata: { name: "e" }, subsets: [{ addresses, ports }, {}] };
  const path = `/api/v1/namespaces/${namespace}/endpoints`;
  const { status, body } = await target.request("POST", path, endpoints);
  expect(status).toBe(422);
  const at = "subsets[0].addresses";
  const problems = [
    `${at}[0].ip: Invalid value: "127.0.0.1": ${loopback}`,
    `${at}[1].ip: Invalid value: "10.0.0.300": ${noAddress}`,
    `${at}[1].ip: Invalid value: "10.0.0.300": must be a valid IP address`,
    `${at}[2].ip: Invalid value: "fe80::1": may not be in the link-local range (169.254.0.0/16, fe80::/10)`,
    `subsets[0].ports[0].name: Invalid value: "A_B": ${label}`,
    "subsets[0].ports[1].name: Required value",
    "subsets[0].ports[1].port: Invalid value: 0: must be between 1 and 65535, inclusive",
    "subsets[1]: Required value: must specify `addresses` or `notReadyAddresses`",
  ];
  expect(body.message).toBe(`Endpoints "e" is invalid: [${problems.join(", ")}]`);
});

const podWith = (container: object) => ({
  metadata: { name: "p" },
  spec: { serviceAccountName: "tester", containers: [{ name: "c", image: "i", ...container }] },
});

async function createPod(container: object) {
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await target.request("POST", accounts, { metadata: { name: "tester" } });
  return target.request("POST", `/api/v1/namespaces/${namespace}/pods?dryRun=All`, podWith(container));
}

test.each(["abc", "1.2.3", "1Xi", "", true])("%j is no quantity", async (memory) => {
  const { status, body } = await createPod({ resources: { limits: { memory } } });
  expect(status).toBe(400);
  expect(body.message).toBe(
    `Pod in version "v1" cannot be handled as a Pod: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
  );
});

test.each([
  [0.5, "500m"],
  ["1000m", "1"],
  ["1024Ki", "1Mi"],
  ["0.1n", "1m"],
  ["1.5Gi", "1536Mi"],
  ["12000M", "12G"],
  ["1e3", "1e3"],
])("the quantity %j becomes %s, and a limit is the default for the request", async (given, printed) => {
  const { body } = await createPod({ resources: { limits: { memory: given } } });
  expect(body.spec.containers[0].resources).toEqual({
    limits: { memory: printed },
    requests: { memory: printed },
  });
});

test("ports, variables, mounts and resources of a container are validated", async () => {
  const { status, body } = await createPod({
    ports: [
      { name: "A_B", containerPort: 80 },
      { name: "waytoolongportname", containerPort: 81, protocol: "FOO" },
      { name: "x", containerPort: 1 },
      { name: "x", containerPort: 2 },
    ],
    env: [{ name: "" }, { name: "a=b" }],
    volumeMounts: [{ name: "none", mountPath: "/x" }],
    resources: { requests: { cpu: "2", memory: "-1" }, limits: { cpu: "1" } },
  });
  expect(status).toBe(422);
  const at = "spec.containers[0]";
  for (const problem of [
    `${at}.ports[0].name: Invalid value: "A_B": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)`,
    `${at}.ports[0].name: Invalid value: "A_B": must contain at least one letter (a-z)`,
    `${at}.ports[1].name: Invalid value: "waytoolongportname": must be no more than 15 characters`,
    `${at}.ports[1].protocol: Unsupported value: "FOO": supported values: "SCTP", "TCP", "UDP"`,
    `${at}.ports[3].name: Duplicate value: "x"`,
    `${at}.env[0].name: Required value`,
    `${at}.env[1].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than '='`,
    `${at}.volumeMounts[0].name: Not found: "none"`,
    `${at}.resources.requests[memory]: Invalid value: "-1": must be greater than or equal to 0`,
    `${at}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`,
  ])
    expect(body.message).toContain(problem);
});
