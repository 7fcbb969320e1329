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

test("latency delays the answer", async () => {
  sandbox.faults.add({ verb: "get", resource: "leases", effect: { latencyMs: 60 } });
  const before = performance.now();
  expect(await holder()).toBe("x");
  expect(performance.now() - before).toBeGreaterThanOrEqual(59);
});

test("a dropped request is not done", async () => {
  sandbox.faults.add({ verb: "patch", times: 1, effect: "drop" });
  await expect(rename("y")).rejects.toThrow(/socket hang up|ECONNRESET/);
  expect(await holder()).toBe("x");
  expect((await rename("y")).status).toBe(200);
});

test("a request whose answer is lost is done", async () => {
  sandbox.faults.add({ verb: "patch", times: 1, effect: "lose-answer" });
  await expect(rename("y")).rejects.toThrow(/socket hang up|ECONNRESET/);
  expect(await holder()).toBe("y");
});

test("a hanging request is not answered, and not done", async () => {
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

test.each([409, 429, 500, 503] as const)("a request can be refused with %d", async (status) => {
  sandbox.faults.add({ verb: "patch", effect: { status } });
  const { status: answered, body } = await rename("y");
  expect(answered).toBe(status);
  expect(body).toMatchObject({ kind: "Status", status: "Failure", code: status });
  expect(await holder()).toBe("x");
});

test("a refusal can say when to come again", async () => {
  sandbox.faults.add({ effect: { status: 503, retryAfterSeconds: 7 } });
  const { headers, body } = await rename("y");
  expect(headers["retry-after"]).toBe("7");
  expect(body.details.retryAfterSeconds).toBe(7);
});

test("a stalled watch is silent until the fault is removed, and then catches up", async () => {
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

test("cutting closes the watches that are open, and those that are opened while it lasts", async () => {
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

test("a fault strikes only what it names", async () => {
  sandbox.faults.add({ resource: "configmaps", effect: { status: 500 } });
  sandbox.faults.add({ name: "b", effect: { status: 500 } });
  sandbox.faults.add({ namespace: "other", effect: { status: 500 } });
  sandbox.faults.add({ client: "nobody", effect: { status: 500 } });
  expect((await rename("y")).status).toBe(200);
  sandbox.faults.add({ client: "admin", verb: "patch", effect: { status: 500 } });
  expect((await rename("z")).status).toBe(500);
  expect(await holder()).toBe("y");
});

test("a client is known by its user agent too", async () => {
  sandbox.faults.add({ client: "pod-1", effect: { status: 503 } });
  const ask = (agent: string) =>
    send(sandbox, "GET", leasesPath, undefined, { headers: { "User-Agent": agent } });
  expect((await ask("candidate/pod-1")).status).toBe(503);
  expect((await ask("candidate/pod-2")).status).toBe(200);
});

test("a fault removes itself when it has struck often enough", async () => {
  sandbox.faults.add({ times: 2, effect: { status: 503 } });
  const statuses = [];
  for (let index = 0; index < 3; index++) statuses.push((await send(sandbox, "GET", leasesPath)).status);
  expect(statuses).toEqual([503, 503, 200]);
  expect(sandbox.faults.list()).toEqual([]);
});

test("probability 0 never strikes, and clear removes everything", async () => {
  sandbox.faults.add({ probability: 0, effect: "drop" });
  expect((await send(sandbox, "GET", leasesPath)).status).toBe(200);
  sandbox.faults.add({ effect: "drop" });
  sandbox.faults.clear();
  expect((await send(sandbox, "GET", leasesPath)).status).toBe(200);
});

test("a wrong fault is refused, and every problem is named", () => {
  const wrong = { verb: "renew", times: 0, probability: 2, color: "red", effect: "explode" };
  expect(() => sandbox.faults.add(wrong as never)).toThrow(
    'Cannot add the fault: unknown field "color"; verb must be one of get, list, watch, create, update, patch, delete, deletecollection: "renew"; times must be a whole number above 0: 0; probability must be from 0 to 1: 2; effect must be {latencyMs}, {status: 409|429|500|503} or one of hang, drop, lose-answer, stall-watch, cut-watch: "explode"',
  );
});

test("faults are set from another process through the kubeconfig", async () => {
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

test("only an administrator may set faults", async () => {
  const { token } = await sandbox.serviceAccount("default", "candidate");
  expect((await send(sandbox, "GET", "/tenure/v1/faults", undefined, { token })).status).toBe(403);
  expect((await send(sandbox, "GET", "/tenure/v1/faults", undefined, { token: "" })).status).toBe(403);
});
