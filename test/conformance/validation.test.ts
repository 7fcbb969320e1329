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
