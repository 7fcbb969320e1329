/** Pods with a network of their own, with real processes. */
import { existsSync } from "node:fs";
import { request } from "node:https";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NodePod } from "../pod.ts";
import { networkObstacle } from "../testing/network-obstacle.ts";
import { isReady, type NodeRig, shell, startNodeRig } from "../testing/node-rig.ts";

const problem = await networkObstacle();
if (problem)
  console.warn(`Pods have no network of their own on this machine, so it is not tested: ${problem}`);

describe.skipIf(problem !== undefined)("pods with a network of their own", () => {
  let rig: NodeRig;
  beforeAll(async () => {
    rig = await startNodeRig({ isolation: "network", services: true });
  });
  afterAll(() => rig.close());

  /** A program that knows nothing of its pod: it listens on all addresses. */
  const serve = (answer: string, port = 3000) =>
    shell("", {
      command: [
        process.execPath,
        "-e",
        `require("http").createServer((_, response) => response.end(${JSON.stringify(answer)})).listen(${port}, "0.0.0.0")`,
      ],
      ports: [{ containerPort: port }],
      readinessProbe: { httpGet: { port }, periodSeconds: 1 },
    });
  const get = (url: string) => fetch(url).then((response) => response.text());
  const twin = ({ status }: NodePod) => (status?.podIP ?? "").replace(/^10/, "127");
  const logOf = async (name: string) => {
    const { status } = await rig.until(name, (pod) => pod.status?.phase === "Succeeded");
    return status?.containerStatuses?.[0]?.state?.terminated?.message;
  };
  /** Prints what a URL answers as the last words of a pod. */
  const ask = (script: string) =>
    shell("", {
      command: [
        process.execPath,
        "-e",
        `(async () => { ${script} })().then(
        (text) => { require("fs").writeFileSync("/dev/termination-log", text); process.exit(); }, (error) => { console.error(error); process.exit(1); })`,
      ],
    });

  it("three of them listen on the same port side by side, and the machine reaches each", async () => {
    const names = ["one", "two", "three"];
    for (const name of names) await rig.create(name, { containers: [serve(name)] });
    const pods = await Promise.all(names.map((name) => rig.until(name, isReady)));
    expect(await Promise.all(pods.map((pod) => get(`http://${twin(pod)}:3000`)))).toEqual(names);
  });

  it("the API passes requests on to one", async () => {
    await rig.create("proxied", { containers: [serve("through the API", 3002)] });
    await rig.until("proxied", isReady);
    const url = `${rig.sandbox.url}/api/v1/namespaces/default/pods/proxied/proxy/`;
    const headers = { Authorization: `Bearer ${rig.sandbox.adminToken}` };
    const answer = await new Promise<string>((resolve, reject) => {
      const options = { headers, ca: rig.sandbox.caPem, agent: false, timeout: 5_000 } as const;
      request(url, options, (response) => {
        response.once("data", (piece: Buffer) => resolve(piece.toString()));
      })
        .once("timeout", () => reject(new Error("no answer")))
        .once("error", reject)
        .end();
    });
    expect(answer).toBe("through the API");
  });

  it("one reaches another by its address, a service by its address, and the API, but not the machine", async () => {
    const target = await rig
      .create("target", { containers: [serve("hello", 3001)] })
      .then(() => rig.until("target", isReady));
    const service = await rig.client.request<{ spec: { clusterIP: string } }>({
      method: "POST",
      path: "/api/v1/namespaces/default/services",
      body: { metadata: { name: "target" }, spec: { ports: [{ port: 80, targetPort: 3001 }] } },
    });
    await rig.client.request({
      method: "POST",
      path: "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
      body: {
        metadata: { name: "target-1", labels: { "kubernetes.io/service-name": "target" } },
        addressType: "IPv4",
        ports: [{ name: "", port: 3001 }],
        endpoints: [{ addresses: [target.status?.podIP], conditions: { ready: true } }],
      },
    });
    const { clusterIP } = service.spec;
    const script = `
      const get = (url) => fetch(url).then((response) => response.text());
      for (let tries = 0; ; tries++) {
        try { await get("http://${clusterIP}"); break; }
        catch (error) { if (tries > 100) throw error; await new Promise((resolve) => setTimeout(resolve, 100)); }
      }
      const direct = await get("http://${target.status?.podIP}:3001");
      const byService = await get("http://${clusterIP}");
      const ca = require("fs").readFileSync("/var/run/secrets/kubernetes.io/serviceaccount/ca.crt");
      const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
      const api = await new Promise((resolve, reject) => require("https")
        .get({ host, port, ca, path: "/version" }, ({ statusCode }) => resolve(statusCode)).on("error", reject));
      const machine = await get(${JSON.stringify(rig.sandbox.url)}).then(() => "reached", () => "unreachable");
      return [direct, byService, api, machine].join(" ");`;
    await rig.create("asking", { restartPolicy: "Never", containers: [ask(script)] });
    expect(await logOf("asking")).toBe("hello hello 200 unreachable");
  });

  it("a TCP probe fails while nothing listens", async () => {
    const late = shell("sleep 1000", { readinessProbe: { tcpSocket: { port: 3002 }, periodSeconds: 1 } });
    await rig.create("silent", { containers: [late] });
    const events = async () => {
      const path = "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=silent";
      const { items } = await rig.client.request<{ items: { message: string }[] }>({ method: "GET", path });
      return items.map(({ message }) => message).join("\n");
    };
    await expect.poll(events).toContain("Readiness probe failed");
    expect(isReady((await rig.pod("silent")) as NodePod)).toBe(false);
  });

  it("the network of a pod is gone with the pod", async () => {
    const { status } = await rig
      .create("short", { containers: [serve("short", 3003)] })
      .then(() => rig.until("short", isReady));
    await rig.remove("short", 0);
    await rig.untilGone("short");
    await expect
      .poll(() =>
        get(`http://127.${status?.podIP?.slice(3)}:3003`).then(
          () => "answers",
          () => "gone",
        ),
      )
      .toBe("gone");
    expect(existsSync(`${rig.folder}/network/router.sock`)).toBe(true);
  });
});
