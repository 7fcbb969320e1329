// Rules for the contents of objects that clients rely on, and that a server without them would store for ever.
import { afterAll, beforeAll, expect, test } from "vitest";
import { configMap, configMapsIn, connect, lease, leasesIn, type Target } from "./target.ts";

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
