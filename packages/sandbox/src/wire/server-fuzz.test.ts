/** Fuzz tests: any request gets a response that Kubernetes could give, and the process survives. */
import type { IncomingMessage } from "node:http";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Sandbox, startSandbox } from "../sandbox.ts";
import { configMapsPath, lease, leasesPath, open, type Reply, send, watch } from "../testing/client.ts";

// A fixed seed makes runs reproducible. TENURE_FUZZ_SEED sets another one.
fc.configureGlobal({ seed: Number(process.env.TENURE_FUZZ_SEED ?? 20261115) });

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ tls: false });
});
afterAll(() => sandbox.close());

const alive = async () => expect((await send(sandbox, "GET", "/readyz")).body).toBe("ok");

/** fast-check shows the request. This shows the response. */
const shown = ({ status, body }: Reply) => `the response was ${status} ${JSON.stringify(body)}`;

/** A status of 500 is a bug, except for the few errors that Kubernetes reports with 500 too. */
function expectReasonable(answer: Reply): void {
  const { status, body } = answer;
  const usual = [200, 201, 400, 403, 404, 405, 406, 409, 410, 413, 415, 422, 500, 504];
  expect(usual, shown(answer)).toContain(status);
  if (status === 500) expect(body.message).not.toMatch(/^Internal error occurred/);
  if (status >= 400 && typeof body === "object")
    expect(body, shown(answer)).toMatchObject({ kind: "Status", status: "Failure", code: status });
}

const contentTypes = [
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "text/plain",
  "a/b;c",
  "__proto__",
  "constructor",
  "",
];
const patchTypes = [
  "json-patch+json",
  "merge-patch+json",
  "strategic-merge-patch+json",
  "apply-patch+yaml",
].map((type) => `application/${type}`);

test("arbitrary bytes as a body", async () => {
  const bodies = fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: "binary" }), fc.json());
  await fc.assert(
    fc.asyncProperty(bodies, fc.constantFrom(...contentTypes), async (body, type) => {
      const answer = await send(sandbox, "POST", leasesPath, Buffer.from(body as string), {
        headers: { "Content-Type": type },
      });
      expectReasonable(answer);
    }),
    { numRuns: 300 },
  );
  await alive();
});

test("arbitrary bytes after the protobuf prefix", async () => {
  const magic = Buffer.from("k8s\0");
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 100 }), async (rest) => {
      const headers = { "Content-Type": "application/vnd.kubernetes.protobuf" };
      expectReasonable(await send(sandbox, "POST", leasesPath, Buffer.concat([magic, rest]), { headers }));
    }),
    { numRuns: 200 },
  );
});

/** Objects that look like Leases, with arbitrary values in any field. */
const almostLease = fc.record(
  {
    apiVersion: fc.oneof(fc.constant("coordination.k8s.io/v1"), fc.jsonValue()),
    kind: fc.oneof(fc.constant("Lease"), fc.jsonValue()),
    metadata: fc.oneof(
      fc.record(
        {
          name: fc.oneof(fc.constantFrom("a", "b"), fc.string(), fc.jsonValue()),
          generateName: fc.oneof(fc.constant("x-"), fc.jsonValue()),
          labels: fc.oneof(fc.dictionary(fc.string(), fc.string()), fc.jsonValue()),
          annotations: fc.oneof(fc.dictionary(fc.string(), fc.string()), fc.jsonValue()),
          finalizers: fc.jsonValue(),
          ownerReferences: fc.oneof(fc.jsonValue(), fc.array(fc.record({ uid: fc.string() }))),
          managedFields: fc.oneof(
            fc.jsonValue(),
            fc.array(fc.record({ operation: fc.string(), fieldsV1: fc.jsonValue() })),
          ),
          resourceVersion: fc.oneof(fc.constantFrom("0", "1", "x"), fc.jsonValue()),
          uid: fc.jsonValue(),
          deletionTimestamp: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
      fc.jsonValue(),
    ),
    spec: fc.oneof(
      fc.record(
        {
          holderIdentity: fc.jsonValue(),
          leaseDurationSeconds: fc.oneof(fc.integer(), fc.double(), fc.jsonValue()),
          renewTime: fc.oneof(
            fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
            fc.jsonValue(),
          ),
        },
        { requiredKeys: [] },
      ),
      fc.jsonValue(),
    ),
  },
  { requiredKeys: [] },
);

test("objects that look like Leases, in every kind of write", async () => {
  const ways = fc.constantFrom<[string, string, string]>(
    ["POST", leasesPath, "application/json"],
    ["PUT", `${leasesPath}/a`, "application/json"],
    ["DELETE", `${leasesPath}/a`, "application/json"],
    ...patchTypes.map((type): [string, string, string] => [
      "PATCH",
      `${leasesPath}/a?fieldManager=fuzz&force=${type.includes("apply")}`,
      type,
    ]),
    ...patchTypes.map((type): [string, string, string] => [
      "PATCH",
      `${leasesPath}/a?fieldManager=fuzz`,
      type,
    ]),
  );
  await fc.assert(
    fc.asyncProperty(almostLease, ways, async (body, [method, path, type]) => {
      expectReasonable(
        await send(sandbox, method, path, JSON.stringify(body), { headers: { "Content-Type": type } }),
      );
    }),
    { numRuns: 600 },
  );
  await alive();
});

test("kind and apiVersion that are not text", async () => {
  const odd = { toString: "" };
  for (const body of [{ apiVersion: odd, kind: "Lease" }, { apiVersion: "v1", kind: odd }, { kind: [odd] }]) {
    for (const [method, path] of [
      ["POST", leasesPath],
      ["PUT", `${leasesPath}/a`],
      ["DELETE", `${leasesPath}/a`],
    ] as const) {
      expect((await send(sandbox, method, path, body)).status).toBe(400);
    }
  }
});

test("unknown fields with arbitrary names", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async (name) => {
      const answer = await send(sandbox, "POST", leasesPath, { metadata: { generateName: "x-" }, [name]: 1 });
      expect([201, 400], shown(answer)).toContain(answer.status);
    }),
  );
  const { headers } = await send(sandbox, "POST", leasesPath, { metadata: { generateName: "x-" }, größe: 1 });
  expect(Buffer.from(headers.warning ?? "", "latin1").toString()).toBe('299 - "unknown field \\"größe\\""');
});

test("JSON patches with arbitrary operations", async () => {
  const path = fc.oneof(
    fc.constantFrom("/spec", "/metadata/name", "/metadata/labels/a", "", "/", "/__proto__/x"),
    fc.string(),
  );
  const operation = fc.record(
    {
      op: fc.oneof(fc.constantFrom("add", "remove", "replace", "move", "copy", "test"), fc.string()),
      path,
      from: path,
      value: fc.jsonValue(),
    },
    { requiredKeys: ["op"] },
  );
  const headers = { "Content-Type": "application/json-patch+json" };
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 4 }), async (patch) => {
      await send(sandbox, "POST", leasesPath, lease("a"));
      expectReasonable(await send(sandbox, "PATCH", `${leasesPath}/a`, patch, { headers }));
    }),
    { numRuns: 300 },
  );
  expect(({} as Record<string, unknown>).x).toBeUndefined();
});

test("arbitrary paths and queries", async () => {
  const segment = fc.oneof(
    fc.constantFrom(
      "api",
      "apis",
      "v1",
      "namespaces",
      "default",
      "leases",
      "coordination.k8s.io",
      "..",
      "%2e%2e",
      "%00",
      "%2f",
      "",
    ),
    fc.string().map(encodeURIComponent),
  );
  const query = fc.constantFrom(
    "",
    "?limit=-1",
    "?limit=x",
    "?continue=%00",
    "?labelSelector=((",
    "?fieldSelector==",
    "?resourceVersion=-1",
    "?dryRun=x",
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(segment, { maxLength: 8 }),
      query,
      fc.constantFrom("GET", "PUT", "DELETE"),
      async (parts, rest, method) => {
        const path = `/${parts.join("/")}`;
        if (method === "DELETE" && /namespaces\/?$/.test(path)) return;
        expectReasonable(await send(sandbox, method, path + rest, method === "PUT" ? {} : undefined));
      },
    ),
    { numRuns: 400 },
  );
  await alive();
});

test("a YAML bomb", async () => {
  const levels = Array.from(
    { length: 12 },
    (_, index) =>
      `l${index}: &l${index} [${Array(9)
        .fill(index === 0 ? "lol" : `*l${index - 1}`)
        .join(",")}]`,
  );
  const headers = { "Content-Type": "application/yaml" };
  const { status, body } = await send(sandbox, "POST", leasesPath, levels.join("\n"), { headers });
  expect(status).toBe(400);
  expect(body.message).toMatch(/alias/i);
});

test("a body of 10 MB gets 413", async () => {
  const { status, body } = await send(sandbox, "POST", configMapsPath, {
    metadata: { name: "a" },
    data: { a: "x".repeat(10_000_000) },
  });
  expect(status).toBe(413);
  expect(body).toMatchObject({
    reason: "RequestEntityTooLarge",
    message: "Request entity too large: limit is 3145728",
  });
});

test("JSON with 100,000 levels of nesting", async () => {
  const { status, body } = await send(sandbox, "POST", leasesPath, `{"a":${"[".repeat(100_000)}`);
  expect(status).toBe(400);
  expect(body.message).toContain("exceeded max depth");
});

test("clients that send slowly or disconnect do not affect other clients", async () => {
  const headers = { "Content-Type": "application/json", "Content-Length": "1000" };
  const slow = Array.from({ length: 50 }, () => {
    const request = open(sandbox, "POST", leasesPath, { headers });
    request.on("error", () => {});
    request.write("{");
    return request;
  });
  expect((await send(sandbox, "GET", leasesPath)).status).toBe(200);
  for (const request of slow) request.destroy();
  await alive();
});

test("a watcher that does not read is disconnected before it fills the memory", async () => {
  await send(sandbox, "POST", configMapsPath, { metadata: { name: "large" }, data: { a: "" } });
  const request = open(sandbox, "GET", `${configMapsPath}?watch=1`);
  const response = await new Promise<IncomingMessage>((resolve) => {
    request.on("response", resolve);
    request.on("error", () => {});
    request.end();
  });
  const closed = new Promise((resolve) => response.on("close", resolve));
  response.on("error", () => {});
  response.pause();
  const big = "x".repeat(1_000_000);
  const patch = { headers: { "Content-Type": "application/merge-patch+json" } };
  const writes = 40;
  for (let index = 0; index < writes; index++) {
    await send(sandbox, "PATCH", `${configMapsPath}/large`, { data: { a: big + index } }, patch);
  }
  let received = 0;
  response.on("data", (chunk: Buffer) => {
    received += chunk.length;
  });
  response.resume();
  await closed;
  expect(received).toBeLessThan(writes * big.length);
  await alive();
});

test("a thousand idle watches all see a change", async () => {
  const watches = await Promise.all(
    Array.from({ length: 1000 }, () =>
      watch(sandbox, `${leasesPath}?watch=1&fieldSelector=metadata.name%3Dwatched`),
    ),
  );
  await send(sandbox, "POST", leasesPath, lease("watched"));
  const events = await Promise.all(watches.map(({ next }) => next()));
  expect(events.every(({ type }) => type === "ADDED")).toBe(true);
  for (const { close } of watches) close();
  await alive();
}, 30_000);
