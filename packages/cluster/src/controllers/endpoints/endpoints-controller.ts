/** Keeps the Endpoints of Services with a selector, for clients that do not read EndpointSlices. */
import type { Endpoints } from "../../client/endpoint-objects.ts";
import { keyOf, splitKey } from "../../client/informer.ts";
import type { Labels, Service } from "../../client/objects.ts";
import { endpoints, pods, services } from "../../client/resources.ts";
import { WorkQueue } from "../../client/work-queue.ts";
import {
  createObject,
  deleteObject,
  hasCode,
  isNamespaceEnding,
  replaceObject,
} from "../../client/writes.ts";
import type { Controller } from "../controller.ts";
import { canonicalText } from "../names.ts";
import { isHeadless, isSelecting } from "./members.ts";
import { servicesOf } from "./services-of.ts";
import { headlessLabel } from "./slices.ts";
import { subsetsOf } from "./subsets.ts";

const managedByLabel = "endpoints.kubernetes.io/managed-by";
const managedBy = "endpoint-controller";

export const endpointsController: Controller = ({ client, platform, informers, onError }) => {
  const all = informers.of(services);
  const objects = informers.of(endpoints);
  const allPods = informers.of(pods);
  const queue = new WorkQueue({ platform, onError, work: sync });

  all.onChange(({ previous, current }) => queue.add(keyOf(((current ?? previous) as Service).metadata)));
  objects.onChange(({ previous, current }) =>
    queue.add(keyOf(((current ?? previous) as Endpoints).metadata)),
  );
  allPods.onChange(({ previous, current }) => {
    for (const key of servicesOf([previous, current], all)) queue.add(key);
  });

  async function sync(key: string): Promise<void> {
    const { namespace, name } = splitKey(key);
    const service = all.get(namespace, name);
    const present = objects.get(namespace, name);
    if (!service) {
      // Only what this controller wrote: an Endpoints object may be somebody's own, or a lock.
      if (present?.metadata.labels?.[managedByLabel] === managedBy)
        await deleteObject(client, endpoints, present);
      return;
    }
    if (!isSelecting(service) || service.metadata.deletionTimestamp) return;
    const subsets = subsetsOf(service, allPods.list(namespace));
    const labels = labelsFor(service);
    const isSame =
      present &&
      canonicalText(present.subsets ?? []) === canonicalText(subsets) &&
      canonicalText(present.metadata.labels) === canonicalText(labels);
    if (isSame) return;
    if (present) {
      await replaceObject(client, endpoints, {
        ...present,
        metadata: { ...present.metadata, labels },
        subsets,
      });
      return;
    }
    try {
      await createObject(client, endpoints, namespace, { metadata: { name, labels }, subsets });
    } catch (error) {
      // It exists, and the copy is behind. Its event leads to another look.
      if (!hasCode(error, "AlreadyExists") && !isNamespaceEnding(error)) throw error;
    }
  }

  return queue;
};

function labelsFor(service: Service): Labels {
  const { [headlessLabel]: _headless, ...own } = service.metadata.labels ?? {};
  return { ...own, [managedByLabel]: managedBy, ...(isHeadless(service) ? { [headlessLabel]: "" } : {}) };
}
