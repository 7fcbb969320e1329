import { expect, test } from "vitest";
import type { ApiObject, ObjectMeta } from "../objects/object.ts";
import { alreadyExists, badRequest } from "../objects/status.ts";
import { systemPlatform } from "../platform.ts";
import { startSandbox } from "../sandbox.ts";
import { lease, leasesPath, send } from "../testing/client.ts";
import { withGeneratedName } from "./generate-name.ts";

const object = (metadata: ObjectMeta): ApiObject => ({ kind: "Lease", apiVersion: "v1", metadata });

/** Generated names end in bbbbb, ccccc, ddddd, … in this order. */
function inOrder() {
  let next = 0;
  return { randomBytes: (count: number) => Buffer.alloc(count, next++) };
}

/** Rejects names that are taken, and records all names. */
function store(...taken: string[]) {
  const asked: string[] = [];
  const create = async ({ metadata: { name = "" } }: ApiObject) => {
    asked.push(name);
    if (taken.includes(name)) throw alreadyExists({ group: "", resource: "leases", name });
    return name;
  };
  return { asked, create };
}

const first7 = ["bbbbb", "ccccc", "ddddd", "fffff", "ggggg", "hhhhh", "jjjjj"].map((end) => `x-${end}`);

test.each([
  ["the first name is free", [], "x-bbbbb"],
  ["the first name is taken", ["x-bbbbb"], "x-ccccc"],
  ["seven names are taken", first7, "x-kkkkk"],
])("%s", async (_, taken, name) => {
  const { create } = store(...taken);
  expect(await withGeneratedName(object({ generateName: "x-" }), inOrder(), create)).toBe(name);
});

test("the client gets an error when eight names in a row are taken", async () => {
  const { create, asked } = store(...first7, "x-kkkkk");
  const made = withGeneratedName(object({ generateName: "x-" }), inOrder(), create);
  await expect(made).rejects.toThrow('leases "x-kkkkk" already exists');
  expect(asked).toHaveLength(8);
});

test("a name that the client chose is tried once", async () => {
  const { create, asked } = store("a");
  const made = withGeneratedName(object({ name: "a", generateName: "x-" }), inOrder(), create);
  await expect(made).rejects.toThrow('leases "a" already exists');
  expect(asked).toEqual(["a"]);
});

test("a create that fails for another reason is not retried", async () => {
  let calls = 0;
  const made = withGeneratedName(object({ generateName: "x-" }), inOrder(), async () => {
    calls++;
    throw badRequest("no");
  });
  await expect(made).rejects.toThrow("no");
  expect(calls).toBe(1);
});

test("a long prefix is truncated, so that the name is a valid label", async () => {
  const { create } = store();
  const name = await withGeneratedName(object({ generateName: "p".repeat(70) }), inOrder(), create);
  expect(name).toBe(`${"p".repeat(58)}bbbbb`);
});

test("a client whose generated name is taken gets another one", async () => {
  const { randomBytes } = inOrder();
  const platform = {
    ...systemPlatform,
    randomBytes: (count: number) => (count === 5 ? randomBytes(count) : systemPlatform.randomBytes(count)),
  };
  const sandbox = await startSandbox({ tls: false, platform });
  await send(sandbox, "POST", leasesPath, lease("x-bbbbb"));
  const { status, body } = await send(sandbox, "POST", leasesPath, { metadata: { generateName: "x-" } });
  await sandbox.close();
  expect({ status, name: body.metadata.name }).toEqual({ status: 201, name: "x-ccccc" });
});
