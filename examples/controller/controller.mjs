// A controller on the informers of @kubernetes/client-node, on every replica. Only the leader reconciles. It puts the number of keys of
// each ConfigMap with the label count=please into an annotation.
//   node examples/controller/controller.mjs a
import { setTimeout as sleep } from "node:timers/promises";
import { CoreV1Api, KubeConfig, makeInformer } from "@kubernetes/client-node";
import { Election, LeaseLock } from "@tenure/election";

const shutdown = new AbortController();
for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => shutdown.abort());

const config = new KubeConfig();
config.loadFromDefault();
const api = config.makeApiClient(CoreV1Api);
const namespace = "default";
const labelSelector = "count=please";

const election = new Election({
  lock: new LeaseLock({ namespace, name: "controller" }),
  ...(process.argv[2] && { identity: process.argv[2] }),
});
election.on("error", ({ error }) => console.error(error.message));

await election.run(
  async (term) => {
    // Before anything is awaited: a signal that has aborted does not call a listener that is added later.
    const ending = new Promise((resolve) => term.signal.addEventListener("abort", resolve, { once: true }));
    const list = () => api.listNamespacedConfigMap({ namespace, labelSelector });
    const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list, labelSelector);
    // term.run keeps the lease until the reconciliation has ended, and starts none after the term has begun to end.
    /** @param {import("@kubernetes/client-node").V1ConfigMap} object */
    const handle = (object) => void term.run(() => reconcile(object, term)).catch(console.error);
    informer.on("add", handle);
    informer.on("update", handle);
    // client-node ends a watch after a while. The informer does not start it again by itself.
    informer.on("error", async () => {
      await sleep(1_000, undefined, { signal: term.signal }).catch(() => {});
      if (!term.signal.aborted) await informer.start().catch(console.error);
    });
    await informer.start();
    console.log(`${term.token} ${term.identity} reconciles`);
    await ending;
    await informer.stop();
  },
  { signal: shutdown.signal },
);

/**
 * @param {import("@kubernetes/client-node").V1ConfigMap} object
 * @param {import("@tenure/election").Term} term
 */
async function reconcile({ metadata, data = {} }, term) {
  const counted = String(Object.keys(data).length);
  if (!metadata?.name || metadata.annotations?.["example.com/keys"] === counted) return;
  console.log(`${term.token} ${term.identity} starts a reconciliation`);
  try {
    const current = await api.readNamespacedConfigMap({ name: metadata.name, namespace });
    const annotations = { ...current.metadata?.annotations, "example.com/keys": counted };
    if (!term.isValid()) return;
    console.log(`${term.token} ${term.identity} writes ${metadata.name}`);
    // The resourceVersion makes the API server reject the write of a replica that has not noticed yet that it lost.
    const body = { ...current, metadata: { ...current.metadata, annotations } };
    await api.replaceNamespacedConfigMap({ name: metadata.name, namespace, body });
  } catch (error) {
    // Somebody else changed or deleted the object. The informer reports it.
    const { code } = /** @type {{ code?: number }} */ (error);
    if (code !== 404 && code !== 409) throw error;
  } finally {
    console.log(`${term.token} ${term.identity} ends a reconciliation`);
  }
}
