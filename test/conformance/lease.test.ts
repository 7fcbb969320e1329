import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { connect, lease, leasesIn, MERGE_PATCH, type Target } from "./target.ts";

let target: Target;
let leases: string;

beforeAll(async () => {
  target = await connect();
});
afterAll(() => target.close());
beforeEach(async () => {
  leases = leasesIn(await target.namespace());
});

const create = (spec: object, query = "") => target.request("POST", `${leases}${query}`, lease("a", spec));

test("all fields of a Lease are returned as they were written", async () => {
  const spec = {
    holderIdentity: "pod-1",
    leaseDurationSeconds: 15,
    acquireTime: "2024-05-06T07:08:09.000000Z",
    renewTime: "2024-05-06T07:08:09.123456Z",
    leaseTransitions: 3,
  };
  const { body } = await create(spec);
  expect(body.spec).toEqual(spec);
});

test("a released Lease keeps the empty holderIdentity", async () => {
  const { body } = await create({ holderIdentity: "", leaseDurationSeconds: 1 });
  expect(body.spec).toEqual({ holderIdentity: "", leaseDurationSeconds: 1 });
});

test("a Lease without a spec gets an empty spec", async () => {
  const { body } = await target.request("POST", leases, { metadata: { name: "a" } });
  expect(body.spec).toEqual({});
});

test("times in another zone are returned in UTC, with six decimals", async () => {
  const { body } = await create({ renewTime: "2024-01-01T02:00:00.123456+02:00" });
  expect(body.spec.renewTime).toBe("2024-01-01T00:00:00.123456Z");
});

const LAYOUT = '"2006-01-02T15:04:05.000000Z07:00"';
test.each([
  ["2024-01-01T00:00:00Z", `parsing time "2024-01-01T00:00:00Z" as ${LAYOUT}: cannot parse "Z" as ".000000"`],
  [
    "2024-01-01T00:00:00.000Z",
    `parsing time "2024-01-01T00:00:00.000Z" as ${LAYOUT}: cannot parse ".000Z" as ".000000"`,
  ],
  [
    "2024-01-01T00:00:00.1234567Z",
    `parsing time "2024-01-01T00:00:00.1234567Z" as ${LAYOUT}: cannot parse "7Z" as "Z07:00"`,
  ],
  ["2024-13-01T00:00:00.000000Z", 'parsing time "2024-13-01T00:00:00.000000Z": month out of range'],
  ["2024-02-30T00:00:00.000000Z", 'parsing time "2024-02-30T00:00:00.000000Z": day out of range'],
  ["soon", `parsing time "soon" as ${LAYOUT}: cannot parse "soon" as "2006"`],
])("the renewTime %s is rejected", async (renewTime, why) => {
  const { status, body } = await create({ renewTime });
  expect(status).toBe(400);
  expect(body.reason).toBe("BadRequest");
  expect(body.message).toBe(`Lease in version "v1" cannot be handled as a Lease: ${why}`);
});

test.each([
  [{ leaseDurationSeconds: 0 }, "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"],
  [{ leaseDurationSeconds: -1 }, "spec.leaseDurationSeconds: Invalid value: -1: must be greater than 0"],
  [{ leaseTransitions: -1 }, "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"],
  [
    { leaseDurationSeconds: 0, leaseTransitions: -5 },
    "[spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0, spec.leaseTransitions: Invalid value: -5: must be greater than or equal to 0]",
  ],
])("the spec %j is invalid", async (spec, why) => {
  const { status, body } = await create(spec);
  expect(status).toBe(422);
  expect(body.message).toBe(`Lease.coordination.k8s.io "a" is invalid: ${why}`);
  expect(body).toMatchObject({
    reason: "Invalid",
    details: { name: "a", group: "coordination.k8s.io", kind: "Lease" },
  });
  expect(body.details.causes[0]).toMatchObject({
    reason: "FieldValueInvalid",
    field: expect.stringMatching(/^spec\./),
  });
});

test("a patch to an invalid value is rejected and changes nothing", async () => {
  await create({ leaseDurationSeconds: 5 });
  const { status } = await target.request(
    "PATCH",
    `${leases}/a`,
    { spec: { leaseDurationSeconds: 0 } },
    MERGE_PATCH,
  );
  expect(status).toBe(422);
  const { body } = await target.request("GET", `${leases}/a`);
  expect(body.spec.leaseDurationSeconds).toBe(5);
});

test.each([
  [
    { leaseDurationSeconds: "15" },
    "json: cannot unmarshal string into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32",
  ],
  [
    { leaseDurationSeconds: 1.5 },
    "json: cannot unmarshal number 1.5 into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32",
  ],
  [
    { holderIdentity: 5 },
    "json: cannot unmarshal number into Go struct field LeaseSpec.spec.holderIdentity of type string",
  ],
  [
    { renewTime: 5 },
    "json: cannot unmarshal number into Go struct field LeaseSpec.spec.renewTime of type string",
  ],
])("the spec %j has the wrong type", async (spec, why) => {
  const { status, body } = await create(spec);
  expect(status).toBe(400);
  expect(body.message).toBe(`Lease in version "v1" cannot be handled as a Lease: ${why}`);
});

test("unknown fields are an error when validation is strict", async () => {
  const { status, body } = await create({ holder: "x" }, "?fieldValidation=Strict");
  expect(status).toBe(400);
  expect(body.message).toBe(
    'Lease in version "v1" cannot be handled as a Lease: strict decoding error: unknown field "spec.holder"',
  );
});

test("unknown fields are dropped with a warning by default", async () => {
  const { status, body, headers } = await create({ holder: "x", holderIdentity: "y" });
  expect(status).toBe(201);
  expect(body.spec).toEqual({ holderIdentity: "y" });
  expect(headers.warning).toBe('299 - "unknown field \\"spec.holder\\""');
});

test.each([
  ["that Unicode has not assigned", "\u{c11e6}", String.raw`\U000c11e6`],
  ["that are invisible", "\u200b\u00ad", String.raw`\u200b\u00ad`],
  ["that are control characters", "a\u0001\u007f\u0085\n", String.raw`a\x01\x7f\u0085\n`],
  ["that are half of a surrogate pair", "\ud800", "\ufffd"],
  ["that need escaping in quotes", 'q"\\', String.raw`q\"\\`],
  ["of any language", "größe", "größe"],
  ["of built-in property names in JavaScript", "__proto__", "__proto__"],
])("characters %s are quoted in a warning, so that a header can carry them", async (_, name, shown) => {
  const body = `{"metadata":{"name":"a"},"spec":{${JSON.stringify(name)}:1,${JSON.stringify(name)}:2}}`;
  const { status, headers } = await target.request("POST", leases, body);
  expect(status).toBe(201);
  const quoted = `unknown field "spec.${shown}"`.replace(/[\\"]/g, "\\$&");
  expect(Buffer.from(String(headers.warning), "latin1").toString()).toBe(`299 - "${quoted}"`);
  const strict = await target.request("POST", `${leases}?fieldValidation=Strict`, body);
  expect(strict.status).toBe(400);
  expect(strict.body.message).toContain(`strict decoding error: unknown field "spec.${shown}"`);
});

test.each([
  ["the first hundred are reported", 1000, 10, 100],
  ["long ones are reported up to the header limit", 30, 300, 16],
])("many unknown fields: %s", async (_, count, length, reported) => {
  const names = Array.from({ length: count }, (_, index) => String(index).padStart(length, "f"));
  const { status, headers } = await create(Object.fromEntries(names.map((name) => [name, 1])));
  expect(status).toBe(201);
  expect(String(headers.warning).split("299 - ")).toHaveLength(reported + 1);
});

test("unknown fields are dropped silently when validation is off", async () => {
  const { status, body, headers } = await create({ holder: "x" }, "?fieldValidation=Ignore");
  expect(status).toBe(201);
  expect(body.spec).toEqual({});
  expect(headers.warning).toBeUndefined();
});

test("fields are case-sensitive", async () => {
  const { body } = await create({ HolderIdentity: "x" }, "?fieldValidation=Strict");
  expect(body.message).toContain('unknown field "spec.HolderIdentity"');
});

test("duplicate fields are an error when validation is strict; otherwise the last value wins", async () => {
  const text = '{"metadata":{"name":"a"},"spec":{"holderIdentity":"x","holderIdentity":"y"}}';
  const strict = await target.request("POST", `${leases}?fieldValidation=Strict`, text);
  expect(strict.status).toBe(400);
  expect(strict.body.message).toContain('strict decoding error: duplicate field "spec.holderIdentity"');
  const lax = await target.request("POST", leases, text);
  expect(lax.status).toBe(201);
  expect(lax.body.spec.holderIdentity).toBe("y");
  expect(lax.headers.warning).toBe('299 - "duplicate field \\"spec.holderIdentity\\""');
});
