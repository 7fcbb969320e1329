/** Puts the certificate of the API server's authority into every namespace, where pods mount it. */
import type { KubeObject } from "../../client/objects.ts";
import { configMaps, namespaces } from "../../client/resources.ts";
import { WorkQueue } from "../../client/work-queue.ts";
import { createObject, hasCode, isNamespaceEnding, replaceObject } from "../../client/writes.ts";
import type { Controller } from "../controller.ts";

const name = "kube-root-ca.crt";
const description =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal " +
  "service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

export function rootCaController(pem: string): Controller {
  return ({ client, platform, informers, onError }) => {
    const spaces = informers.of(namespaces);
    const maps = informers.of(configMaps, { query: { fieldSelector: `metadata.name=${name}` } });
    const queue = new WorkQueue({ platform, onError, work: sync });
    spaces.onChange(({ current }) => {
      if (current) queue.add(current.metadata.name);
    });
    maps.onChange(({ previous, current }) => {
      const { namespace } = ((current ?? previous) as KubeObject).metadata;
      if (namespace) queue.add(namespace);
    });

    async function sync(namespace: string): Promise<void> {
      const space = spaces.get(undefined, namespace);
      if (!space || space.metadata.deletionTimestamp) return;
      const present = maps.get(namespace, name);
      const data = { "ca.crt": pem };
      if (present?.data?.["ca.crt"] === pem && Object.keys(present.data).length === 1) return;
      if (present) {
        await replaceObject(client, configMaps, { ...present, data });
        return;
      }
      const metadata = { name, annotations: { "kubernetes.io/description": description } };
      try {
        await createObject(client, configMaps, namespace, { metadata, data });
      } catch (error) {
        // It exists, and the copy is behind. Its event leads to another look.
        if (!hasCode(error, "AlreadyExists", "NotFound") && !isNamespaceEnding(error)) throw error;
      }
    }

    return queue;
  };
}
