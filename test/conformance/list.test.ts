import { afterAll, beforeAll, expect, test } from "vitest";
import { type Body, configMap, configMapsIn, connect, lease, leasesIn, type Target } from "./target.ts";

let target: Target;
let leases: string;

beforeAll(async () => {
  target = await connect();
  const namespace = await target.namespace();
  leases = leasesIn(namespace);
  await target.request("POST", leases, lease("a", {}, { labels: { x: "1" } }));
  await target.request("POST", leases, lease("b", {}, { labels: { x: "2" } }));
  await target.request("POST", leases, lease("c", {}, { labels: { y: "1" } }));
});
afterAll(() => target.close());

const names = (body: Body) => body.items.map((item: Body) => item.metadata.name);
const list = (query: string) => target.request("GET", `${leases}?${query}`);

test("a list has a revision, and its items omit their kind", async () => {
  const { status, body } = await list("");
  expect(status).toBe(200);
  expect(body).toMatchObject({ kind: "LeaseList", apiVersion: "coordination.k8s.io/v1" });
  expect(body.metadata.resourceVersion).toMatch(/^\d+$/);
  expect(names(body)).toEqual(["a", "b", "c"]);
  expect(Object.keys(body.items[0]).sort()).toEqual(["metadata", "spec"]);
});

test("a list without objects is empty, even in a namespace that does not exist", async () => {
  const { status, body } = await target.request("GET", leasesIn("there-is-no-such-namespace"));
  expect(status).toBe(200);
  expect(body.items).toEqual([]);
});

test.each([
  ["x", ["a", "b"]],
  ["x=1", ["a"]],
  ["x==2,!y", ["b"]],
  ["x!=1", ["b", "c"]],
  ["!x", ["c"]],
  ["x in (1,2)", ["a", "b"]],
  ["x notin (1)", ["b", "c"]],
  ["x>1", ["b"]],
])("the label selector %s selects %j", async (selector, expected) => {
  const { body } = await list(`labelSelector=${encodeURIComponent(selector)}`);
  expect(names(body)).toEqual(expected);
});

test.each([
  ["metadata.name=a", ["a"]],
  ["metadata.name!=a", ["b", "c"]],
])("the field selector %s selects %j", async (selector, expected) => {
  const { body } = await list(`fieldSelector=${encodeURIComponent(selector)}`);
  expect(names(body)).toEqual(expected);
});

test.each([
  ["labelSelector", "=", "found '=', expected: !, identifier, or 'end of string'"],
  ["labelSelector", "a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ["labelSelector", "x=1 2", "found '2', expected: ',' or 'end of string'"],
  [
    "fieldSelector",
    "spec.holderIdentity=x",
    '"spec.holderIdentity" is not a known field selector: only "metadata.name", "metadata.namespace"',
  ],
  ["fieldSelector", "foo", "invalid selector: 'foo'; can't understand 'foo'"],
  ["limit", "x", 'strconv.ParseInt: parsing "x": invalid syntax'],
])("the %s %s gets 400", async (parameter, value, why) => {
  const { status, body } = await list(`${parameter}=${encodeURIComponent(value)}`);
  expect(status).toBe(400);
  expect(body.reason).toBe("BadRequest");
  expect(body.message).toContain(why);
});

test("all pages of a list show the revision of the first page, despite later changes", async () => {
  const configMaps = configMapsIn(await target.namespace());
  const all = "fieldSelector=metadata.name!%3Dkube-root-ca.crt";
  for (const name of ["a", "b", "c", "d", "e"]) await target.request("POST", configMaps, configMap(name));
  const first = await target.request("GET", `${configMaps}?limit=2&${all}`);
  expect(names(first.body)).toEqual(["a", "b"]);
  await target.request("DELETE", `${configMaps}/c`);
  await target.request("POST", configMaps, configMap("f"));
  const more = encodeURIComponent(first.body.metadata.continue);
  const second = await target.request("GET", `${configMaps}?limit=2&${all}&continue=${more}`);
  expect(names(second.body)).toEqual(["c", "d"]);
  expect(second.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
  const last = await target.request(
    "GET",
    `${configMaps}?limit=2&${all}&continue=${encodeURIComponent(second.body.metadata.continue)}`,
  );
  expect(names(last.body)).toEqual(["e"]);
  expect(last.body.metadata.continue).toBeUndefined();
});

test("a page has the number of remaining items", async () => {
  const { body } = await list("limit=2");
  expect(body.metadata.remainingItemCount).toBe(1);
});

test("an invalid continue token gets 400", async () => {
  const { status, body } = await list("continue=foo");
  expect(status).toBe(400);
  expect(body.message).toMatch(/^invalid continue token: continue key is not valid: /);
});

test("a future revision is rejected with Retry-After", async () => {
  const { status, body } = await list("resourceVersion=99999999");
  expect(status).toBe(504);
  expect(body).toMatchObject({ reason: "Timeout", details: { retryAfterSeconds: 1 } });
  expect(body.message).toMatch(/^Timeout: Too large resource version: 99999999, current: \d+$/);
}, 30_000);

test("kubectl gets a table", async () => {
  const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
  const { body } = await target.request("GET", leases, undefined, { accept });
  expect(body).toMatchObject({ kind: "Table", apiVersion: "meta.k8s.io/v1" });
  expect(body.columnDefinitions.map((column: Body) => column.name)).toEqual(["Name", "Holder", "Age"]);
  expect(body.rows[0].cells.slice(0, 2)).toEqual(["a", ""]);
  expect(body.rows[0].object).toMatchObject({ kind: "PartialObjectMetadata", metadata: { name: "a" } });
});

test("a client can ask for metadata only", async () => {
  const accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
  const { body } = await target.request("GET", leases, undefined, { accept });
  expect(body.kind).toBe("PartialObjectMetadataList");
  expect(body.items[0].metadata.name).toBe("a");
  expect(body.items[0].spec).toBeUndefined();
});

test("events can be selected by the fields of their group", async () => {
  const namespace = leases.split("/")[5] as string;
  const event = {
    metadata: { name: "e" },
    regarding: { kind: "Pod", name: "p", namespace },
    eventTime: "2026-01-01T00:00:00.000000Z",
    reportingController: "example.com/c",
    reportingInstance: "i",
    action: "Act",
    reason: "Because",
    type: "Normal",
  };
  const events = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  expect((await target.request("POST", events, event)).status).toBe(201);
  for (const selector of [
    "reportingController=example.com/c",
    "regarding.name=p",
    "reason=Because",
    "type=Normal",
  ]) {
    const { body } = await target.request("GET", `${events}?fieldSelector=${encodeURIComponent(selector)}`);
    expect(names(body), selector).toEqual(["e"]);
  }
  const none = await target.request("GET", `${events}?fieldSelector=reportingController%3Dx`);
  expect(names(none.body)).toEqual([]);
  const wrong = await target.request("GET", `${events}?fieldSelector=involvedObject.name%3Dp`);
  expect(wrong.body.message).toBe("field label not supported: involvedObject.name");
});
