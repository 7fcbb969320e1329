import { afterEach, beforeEach, expect, test } from "vitest";
import { type Sandbox, startSandbox } from "../sandbox.ts";
import { lease, leasesPath, open, send, watch } from "../testing/client.ts";
import { connectSandbox } from "./client.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startSandbox();
  await send(sandbox, "POST", leasesPath, lease("a", { holderIdentity: "x" }));
});
afterEach(() => sandbox.close());

const rename = (holderIdentity: string) =>
  send(
    sandbox,
    "PATCH",
    `${leasesPath}/a`,
    { spec: { holderIdentity } },
    { headers: { "Content-Type": "application/merge-patch+json" } },
  );
const holder = async () => (await send(sandbox, "GET", `${leasesPath}/a`)).body.spec.holderIdentity;

test("latency delays the response", async () => {
  sandbox.faults.add({ verb: "get", resource: "leases", effect: { latencyMs: 60 } });
  const before = performance.now();
  expect(await holder()).toBe("x");
  expect(performance.now() - before).toBeGreaterThanOrEqual(59);
});

test("a dropped request has no effect", async () => {
  sandbox.faults.add({ verb: "patch", times: 1, effect: "drop" });
  await expect(rename("y")).rejects.toThrow(/socket hang up|ECONNRESET/);
  expect(await holder()).toBe("x");
  expect((await rename("y")).status).toBe(200);
});

test("a request whose response is lost takes effect", async () => {
  sandbox.faults.add({ verb: "patch", times: 1, effect: "lose-answer" });
  await expect(rename("y")).rejects.toThrow(/socket hang up|ECONNRESET/);
  expect(await holder()).toBe("y");
});

test("a hanging request gets no response and has no effect", async () => {
  sandbox.faults.add({ verb: "delete", effect: "hang" });
  const request = open(sandbox, "DELETE", `${leasesPath}/a`);
  const failed = new Promise((resolve) => request.on("error", resolve));
  request.on("response", () => expect.unreachable("it was answered"));
  request.end();
  while (sandbox.faults.list()[0]?.struck !== 1) await new Promise((resolve) => setImmediate(resolve));
  expect(await holder()).toBe("x");
  request.destroy();
  await failed;
});

test.each([409, 429, 500, 503] as const)("a request can be rejected with %d", async (status) => {
  sandbox.faults.add({ verb: "patch", effect: { status } });
  const { status: answered, body } = await rename("y");
  expect(answered).toBe(status);
  expect(body).toMatchObject({ kind: "Status", status: "Failure", code: status });
  expect(await holder()).toBe("x");
});

test("a rejection can carry Retry-After", async () => {
  sandbox.faults.add({ effect: { status: 503, retryAfterSeconds: 7 } });
  const { headers, body } = await rename("y");
  expect(headers["retry-after"]).toBe("7");
  expect(body.details.retryAfterSeconds).toBe(7);
});

test("a stalled watch sends nothing until the fault is removed, and then catches up", async () => {
  const watching = await watch(sandbox, `${leasesPath}?watch=1`);
  await watching.next();
  const fault = sandbox.faults.add({ verb: "watch", resource: "leases", effect: "stall-watch" });
  await rename("y");
  await rename("z");
  expect(watching.events).toEqual([]);
  fault.remove();
  expect((await watching.next()).object.spec.holderIdentity).toBe("y");
  expect((await watching.next()).object.spec.holderIdentity).toBe("z");
  watching.close();
});

test("cut-watch closes open watches, and new ones while the fault lasts", async () => {
  const watching = await watch(sandbox, `${leasesPath}?watch=1`);
  const fault = sandbox.faults.add({ resource: "leases", effect: "cut-watch" });
  await watching.ended;
  const again = await watch(sandbox, `${leasesPath}?watch=1`).catch(() => undefined);
  await again?.ended;
  fault.remove();
  const third = await watch(sandbox, `${leasesPath}?watch=1`);
  expect((await third.next()).type).toBe("ADDED");
  third.close();
});

test("a fault strikes only requests that match it", async () => {
  sandbox.faults.add({ resource: "configmaps", effect: { status: 500 } });
  sandbox.faults.add({ name: "b", effect: { status: 500 } });
  sandbox.faults.add({ namespace: "other", effect: { status: 500 } });
  sandbox.faults.add({ client: "nobody", effect: { status: 500 } });
  expect((await rename("y")).status).toBe(200);
  sandbox.faults.add({ client: "admin", verb: "patch", effect: { status: 500 } });
  expect((await rename("z")).status).toBe(500);
  expect(await holder()).toBe("y");
});

test("a fault can select a client by its user agent", async () => {
  sandbox.faults.add({ client: "pod-1", effect: { status: 503 } });
  const ask = (agent: string) =>
    send(sandbox, "GET", leasesPath, undefined, { headers: { "User-Agent": agent } });
  expect((await ask("candidate/pod-1")).status).toBe(503);
  expect((await ask("candidate/pod-2")).status).toBe(200);
});

test("a fault is removed after it has struck `times` times", async () => {
  sandbox.faults.add({ times: 2, effect: { status: 503 } });
  const statuses = [];
  for (let index = 0; index < 3; index++) statuses.push((await send(sandbox, "GET", leasesPath)).status);
  expect(statuses).toEqual([503, 503, 200]);
  expect(sandbox.faults.list()).toEqual([]);
});

test("probability 0 never strikes, and clear removes all faults", async () => {
  sandbox.faults.add({ probability: 0, effect: "drop" });
  expect((await send(sandbox, "GET", leasesPath)).status).toBe(200);
  sandbox.faults.add({ effect: "drop" });
  sandbox.faults.clear();
  expect((await send(sandbox, "GET", leasesPath)).status).toBe(200);
});

test("an invalid fault is rejected, and the error names every problem", () => {
  const wrong = { verb: "renew", times: 0, probability: 2, color: "red", effect: "explode" };
  expect(() => sandbox.faults.add(wrong as never)).toThrow(
    'Cannot add the fault: unknown field "color"; verb must be one of get, list, watch, create, update, patch, delete, deletecollection: "renew"; times must be a whole number above 0: 0; probability must be from 0 to 1: 2; effect must be {latencyMs}, {status: 409|429|500|503} or one of hang, drop, lose-answer, stall-watch, cut-watch: "explode"',
  );
});

test("another process can control faults through the kubeconfig", async () => {
  const control = await connectSandbox(sandbox.kubeconfig);
  const id = await control.addFault({ verb: "get", resource: "leases", effect: { status: 503 } });
  expect(await control.listFaults()).toEqual([
    { id, verb: "get", resource: "leases", effect: { status: 503 }, struck: 0 },
  ]);
  expect((await send(sandbox, "GET", `${leasesPath}/a`)).status).toBe(503);
  expect(await control.removeFault(id)).toBe(true);
  expect(await control.removeFault(id)).toBe(false);
  expect((await send(sandbox, "GET", `${leasesPath}/a`)).status).toBe(200);
  await expect(control.addFault({ effect: "explode" } as never)).rejects.toMatchObject({
    code: "INVALID_OPTION",
  });
  expect(await control.compact()).toBe(sandbox.store.revision);
});

test("only an administrator can control faults", async () => {
  const { token } = await sandbox.serviceAccount("default", "candidate");
  expect((await send(sandbox, "GET", "/tenure/v1/faults", undefined, { token })).status).toBe(403);
  expect((await send(sandbox, "GET", "/tenure/v1/faults", undefined, { token: "" })).status).toBe(403);
});
