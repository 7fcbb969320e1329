// Replaces what the sandbox does not have: the kubelet, which runs a readiness probe in each pod, and the controller that writes
// the addresses of the Ready pods into the Endpoints of a Service. Here a pod is a folder.
//   node fake-kubelet.mjs SERVICE PROBE POD=ADDRESS...
import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { KubeClient, loadConfig } from "@tenure/kube";

const [service, probe, ...pods] = process.argv.slice(2);
const periodMs = 200;
const client = new KubeClient(() => loadConfig());
const endpoints = "/api/v1/namespaces/default/endpoints";
let isRunning = true;
for (const name of ["SIGINT", "SIGTERM"])
  process.once(name, () => {
    isRunning = false;
  });

/** @param {string} pod */
async function isReady(pod) {
  const env = { ...process.env, POD_NAME: pod };
  return promisify(execFile)("sh", ["-c", probe], { cwd: pod, env }).then(
    () => true,
    () => false,
  );
}

/** @param {{ name: string, ip: string }[]} ready */
async function writeEndpoints(ready) {
  const addresses = ready.map(({ name, ip }) => ({ ip, targetRef: { kind: "Pod", name } }));
  const subsets = addresses.length > 0 ? [{ addresses, ports: [{ port: 8080 }] }] : [];
  const body = { apiVersion: "v1", kind: "Endpoints", metadata: { name: service }, subsets };
  await client
    .request({ method: "PUT", path: `${endpoints}/${service}`, body })
    .catch(() => client.request({ method: "POST", path: endpoints, body }));
}

let before = "";
while (isRunning) {
  const all = pods.map((text) => ({ name: text.split("=")[0] ?? "", ip: text.split("=")[1] ?? "" }));
  const answers = await Promise.all(all.map(({ name }) => isReady(name)));
  const ready = all.filter((_, index) => answers[index]);
  const now = ready.map(({ name }) => name).join(", ") || "no pod";
  if (now !== before) {
    await writeEndpoints(ready);
    console.log(`ready: ${now}`);
    before = now;
  }
  await sleep(periodMs);
}
client.close();
