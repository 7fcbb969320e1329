import type { IncomingHttpHeaders } from "node:http";
import { request } from "node:https";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isReady, type NodeRig, shell, startNodeRig } from "../testing/node-rig.ts";

let rig: NodeRig;
beforeAll(async () => {
  rig = await startNodeRig();
  const program = `require("http").createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => body += piece).on("end", () => {
      response.writeHead(request.url === "/missing" ? 404 : 200, { "X-Own": "yes" });
      response.end([request.method, request.url, request.headers.authorization, request.headers["x-sent"], body].join(" "));
    });
  }).listen(3210)`;
  const readinessProbe = { httpGet: { port: 3210 }, periodSeconds: 1 };
  const command = [process.execPath, "-e", program];
  const ports = [{ containerPort: 3210 }];
  await rig.create("web", { containers: [shell("", { command, ports, readinessProbe })] });
  await rig.until("web", isReady);
});
afterAll(() => rig.close());

interface Answer {
  readonly code: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const ask = (path: string, method = "GET", body = "", accept = "text/html") =>
  new Promise<Answer>((resolve, reject) => {
    const url = `${rig.sandbox.url}/api/v1/namespaces/default/pods/${path}`;
    const headers = { Authorization: `Bearer ${rig.sandbox.adminToken}`, Accept: accept, "X-Sent": "too" };
    const sent = request(url, { method, headers, ca: rig.sandbox.caPem, agent: false }, async (answer) => {
      const pieces: Buffer[] = [];
      for await (const piece of answer) pieces.push(piece as Buffer);
      const text = Buffer.concat(pieces).toString();
      resolve({ code: answer.statusCode, headers: answer.headers, body: text });
    });
    sent.once("error", reject).end(body);
  });

it("a pod gets method, path, query, headers and body, but not the credentials of the client", async () => {
  const answer = await ask("web:3210/proxy/a%20b/c?d=e%26", "POST", "hello");
  expect(answer).toMatchObject({ code: 200, body: "POST /a%20b/c?d=e%26  too hello" });
  expect(answer.headers["x-own"]).toBe("yes");
  expect(await ask("http:web:3210/proxy/x", "DELETE")).toMatchObject({ body: "DELETE /x  too " });
  expect(await ask("web/proxy/")).toMatchObject({ code: 200, body: "GET /  too " });
});

it("the client gets the code of the pod", async () => {
  expect(await ask("web:3210/proxy/missing")).toMatchObject({ code: 404, body: "GET /missing  too " });
});

it("without a path the client is sent to the root of the pod", async () => {
  const { code, headers } = await ask("web:3210/proxy?x=1");
  expect({ code, location: headers.location }).toEqual({
    code: 301,
    location: "/api/v1/namespaces/default/pods/web:3210/proxy/?x=1",
  });
});

it("a port on which nothing listens, a pod that does not exist, and a name that is none", async () => {
  const closed = await ask("web:3211/proxy/");
  expect(closed.code).toBe(503);
  expect(JSON.parse(closed.body)).toMatchObject({ kind: "Status", reason: "ServiceUnavailable" });
  expect((await ask("other:3210/proxy/")).code).toBe(404);
  expect((await ask("web:99999/proxy/")).code).toBe(400);
});
