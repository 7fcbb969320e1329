// @ts-check
/**
 * What a leader of many elections cannot do without in Node: creates Leases and replaces each of them every three seconds with node:https,
 * and nothing else. The floor for the processor time and the memory of bench/candidate.mjs.
 *
 *     node bench/bare-renewals.mjs --kubeconfig FILE --namespace NS --name NAME --id ID --count N
 */
import { Agent, request } from "node:https";
import { parseArgs } from "node:util";
import { loadConfig } from "@tenure/kube";

const text = /** @type {const} */ ({ type: "string", default: "" });
const { values } = parseArgs({
  options: { kubeconfig: text, namespace: text, name: text, id: text, count: text },
});
const { kubeconfig, namespace, name, id, count } = values;
const renewEveryMs = 3_000;
const { server, ca, credentials } = await loadConfig({ kubeconfig });
const { hostname: host, port } = new URL(server);
const headers = { ...(await credentials.headers()), "content-type": "application/json" };
const agent = new Agent({ keepAlive: true, maxSockets: 16, ca, ...(await credentials.tls()) });
const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;

/** @param {string} method @param {string} path @param {object} body @returns {Promise<any>} */
const send = (method, path, body) =>
  new Promise((resolve, reject) => {
    const sent = request({ host, port, agent, method, path, headers }, (response) => {
      /** @type {Buffer[]} */
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () => resolve(JSON.parse(Buffer.concat(chunks).toString())));
    });
    sent.on("error", reject);
    sent.end(JSON.stringify(body));
  });

/** @param {string} election */
async function lead(election) {
  let lease = await send("POST", path, { metadata: { name: election }, spec: { holderIdentity: id } });
  console.log(JSON.stringify({ event: "started-leading", monoMs: 0, id, election }));
  const renew = async () => {
    lease.spec.renewTime = `${new Date().toISOString().slice(0, -1)}000Z`;
    lease = await send("PUT", `${path}/${election}`, lease);
    setTimeout(renew, renewEveryMs);
  };
  setTimeout(renew, renewEveryMs);
}

for (let index = 0; index < Number(count); index++) void lead(`${name}-${index}`);
