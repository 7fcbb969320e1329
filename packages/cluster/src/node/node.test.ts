import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isReady, type NodeRig, shell, startNodeRig } from "./testing/node-rig.ts";

let rig: NodeRig;
beforeAll(async () => {
  rig = await startNodeRig();
});
afterAll(() => rig.close());

const terminated = (pod: Awaited<ReturnType<NodeRig["until"]>>) =>
  pod.status?.containerStatuses?.[0]?.state?.terminated;
const logOf = (name: string, restart = 0) => {
  const folder = join(rig.folder, "node-0/logs");
  const [found = ""] = readdirSync(folder).filter((entry) => entry.startsWith(`default_${name}_`));
  return readFileSync(join(folder, found, "app", `${restart}.log`), "utf8").replaceAll(
    /^\S+ (std...) F /gm,
    "$1 ",
  );
};

describe("the node", () => {
  it("is registered, ready, has a network for its pods, and renews its lease", async () => {
    const node = await rig.client.request<{ spec: object; status: { conditions: object[] } }>({
      method: "GET",
      path: "/api/v1/nodes/node-0",
    });
    expect(node.spec).toMatchObject({ podCIDR: expect.stringMatching(/^10\.244\.\d+\.0\/24$/) });
    expect(node.status.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
    const path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-0";
    await expect
      .poll(() => rig.client.request({ method: "GET", path }).catch(() => undefined))
      .toMatchObject({
        spec: { holderIdentity: "node-0", leaseDurationSeconds: 40 },
      });
  });
});

describe("a pod", () => {
  it("runs to its end, with its arguments, variables and fields", async () => {
    const container = shell('echo "$GREETING $POD_NAME $1"; echo oops >&2; exit 7', {
      command: ["/bin/sh", "-c", 'echo "$GREETING $POD_NAME $1"; echo oops >&2; exit 7', "sh"],
      args: ["$(GREETING)!"],
      env: [
        { name: "GREETING", value: "hello" },
        { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      ],
    });
    await rig.create("job", { containers: [container], restartPolicy: "Never" });
    const pod = await rig.until("job", ({ status }) => status?.phase === "Failed");
    expect(terminated(pod)).toMatchObject({ exitCode: 7, reason: "Error" });
    expect(logOf("job").split("\n").sort()).toEqual(["", "stderr oops", "stdout hello job hello!"]);
    expect(pod.status?.podIP).toMatch(/^10\.244\.\d+\.\d+$/);
    expect(isReady(pod)).toBe(false);
  });

  it("gets its own address, which its probes use", async () => {
    const script =
      'require("http").createServer((q, r) => { console.log(q.headers["x-probe"]); r.end("ok") }).listen(8080, process.env.HOST)';
    const container = shell("", {
      image: "node",
      command: ["node", "-e", script],
      ports: [{ name: "web", containerPort: 8080 }],
      readinessProbe: {
        httpGet: { path: "/ready", port: "web", httpHeaders: [{ name: "X-Probe", value: "yes" }] },
        periodSeconds: 1,
      },
    });
    await rig.create("web-1", { containers: [container] });
    await rig.create("web-2", { containers: [container] });
    const [one, two] = await Promise.all([rig.until("web-1", isReady), rig.until("web-2", isReady)]);
    expect(one.status?.podIP).not.toBe(two.status?.podIP);
    expect(logOf("web-1")).toContain("stdout yes");
    await Promise.all([rig.remove("web-1"), rig.remove("web-2")]);
    await Promise.all([rig.untilGone("web-1"), rig.untilGone("web-2")]);
  });

  it("is restarted when its liveness probe fails, and counts restarts", async () => {
    const script =
      'echo up; touch "$TENURE_POD_ROOT/alive"; sleep 1; rm "$TENURE_POD_ROOT/alive"; exec sleep 600';
    const livenessProbe = {
      exec: { command: ["/bin/sh", "-c", 'test -e "$TENURE_POD_ROOT/alive"'] },
      periodSeconds: 1,
      failureThreshold: 1,
      initialDelaySeconds: 1,
    };
    await rig.create("sick", { containers: [shell(script, { livenessProbe })] });
    const pod = await rig.until(
      "sick",
      ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) > 0,
    );
    expect(pod.status?.containerStatuses?.[0]?.lastState?.terminated).toMatchObject({ exitCode: 143 });
    await rig.remove("sick", 1);
    await rig.untilGone("sick");
  });

  it("stops gracefully: preStop, SIGTERM, and only then it is gone from the API", async () => {
    const script = 'trap "echo stopped; exit 0" TERM; echo up; while :; do sleep 0.1; done';
    const lifecycle = { preStop: { exec: { command: ["touch", join(rig.folder, "pre-stop")] } } };
    const pod = await rig.create("graceful", { containers: [shell(script, { lifecycle })] });
    await rig.until("graceful", isReady);
    const watched: string[] = [];
    const watch = new AbortController();
    const watching = rig.client.watch<{
      metadata: { name: string };
      status?: { containerStatuses?: object[] };
    }>({
      path: "/api/v1/namespaces/default/pods",
      query: { fieldSelector: "metadata.name=graceful" },
      signal: watch.signal,
      onUp: () => {},
      onDown: () => {},
      onEvent: ({ type, object }) =>
        watched.push(`${type} ${JSON.stringify(object.status?.containerStatuses)}`),
    });
    await rig.remove("graceful");
    await rig.untilGone("graceful");
    await expect.poll(() => watched.at(-1)).toMatch(/^DELETED.*"reason":"Completed".*"exitCode":0/);
    watch.abort();
    await watching;
    expect(existsSync(join(rig.folder, "pre-stop"))).toBe(true);
    expect(existsSync(join(rig.folder, "node-0/pods", pod.metadata.uid))).toBe(false);
  });

  it("that ignores SIGTERM is killed when its time is up", async () => {
    await rig.create("stubborn", { containers: [shell('trap "" TERM; echo up; while :; do sleep 1; done')] });
    await rig.until("stubborn", isReady);
    await rig.remove("stubborn", 1);
    await rig.untilGone("stubborn");
  });

  it("with an unknown image says what to do", async () => {
    await rig.create("unknown", { containers: [{ name: "app", image: "reg.io/no-such-program:1" }] });
    const pod = await rig.until(
      "unknown",
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === "ErrImagePull",
    );
    expect(pod.status?.containerStatuses?.[0]?.state?.waiting?.message).toContain("--image no-such-program=");
    await rig.remove("unknown");
    await rig.untilGone("unknown");
  });

  it("finds its volumes, its token and the API server", async () => {
    const script = [
      "cd $TENURE_POD_ROOT",
      "cat etc/config/color",
      "test -s var/run/secrets/kubernetes.io/serviceaccount/token && echo token",
      "echo x > cache/file && cat cache/file",
      "echo $KUBERNETES_SERVICE_PORT",
      'echo "last words" > dev/termination-log',
    ].join("; ");
    const path = "/api/v1/namespaces/default/configmaps";
    const volumes = [
      { name: "config", configMap: { name: "colors" } },
      { name: "cache", emptyDir: {} },
    ];
    const volumeMounts = [
      { name: "config", mountPath: "/etc/config" },
      { name: "cache", mountPath: "/cache" },
    ];
    await rig.create("volumes", {
      containers: [shell(script, { volumeMounts })],
      volumes,
      restartPolicy: "Never",
    });
    await rig.until("volumes", ({ status }) => status?.phase === "Pending");
    // The pod waits for its ConfigMap.
    await rig.client.request({
      method: "POST",
      path,
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "colors" }, data: { color: "blue\n" } },
    });
    const pod = await rig.until("volumes", ({ status }) => status?.phase === "Succeeded");
    expect(logOf("volumes").split("\n")).toEqual(
      ["blue", "token", "x", String(rig.sandbox.port)].map((line) => `stdout ${line}`).concat(""),
    );
    expect(terminated(pod)?.message).toBe("last words\n");
  });

  it("that is deleted by force leaves no process", async () => {
    const port = await freePort();
    const script = `require("net").createServer().listen(${port}, process.env.HOST, () => console.log("up"))`;
    await rig.create("forced", { containers: [shell("", { command: ["node", "-e", script] })] });
    const pod = await rig.until("forced", isReady);
    await expect.poll(() => logOf("forced")).toContain("up");
    const host = (pod.status?.podIP ?? "").replace(/^10/, "127");
    await rig.remove("forced", 0);
    await rig.untilGone("forced");
    await expect.poll(() => isFree(host, port)).toBe(true);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
