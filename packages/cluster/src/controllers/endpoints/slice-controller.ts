/** Keeps the EndpointSlices of Services with a selector. */
import type { EndpointSlice } from "../../client/endpoint-objects.ts";
import { keyOf, splitKey } from "../../client/informer.ts";
import type { Service } from "../../client/objects.ts";
import { controllerReference } from "../../client/owner.ts";
import { endpointSlices, nodes, pods, services } from "../../client/resources.ts";
import { WorkQueue } from "../../client/work-queue.ts";
import { createObject, deleteObject, isNamespaceEnding, replaceObject } from "../../client/writes.ts";
import type { Controller } from "../controller.ts";
import { Expectations } from "../expectations.ts";
import { generatedName } from "../names.ts";
import { isSelecting } from "./members.ts";
import { servicesOf } from "./services-of.ts";
import {
  decideSlices,
  managedBy,
  managedByLabel,
  type NewSlice,
  serviceNameLabel,
  sliceLabels,
} from "./slices.ts";

export const endpointSliceController: Controller = ({ client, platform, informers, onError }) => {
  const all = informers.of(services);
  const slices = informers.of(endpointSlices);
  const allPods = informers.of(pods);
  const allNodes = informers.of(nodes);
  /** Slices that were created, but are not visible yet. */
  const expectations = new Expectations();
  const queue = new WorkQueue({ platform, onError, work: sync });

  all.onChange(({ previous, current }) => queue.add(keyOf(((current ?? previous) as Service).metadata)));
  allPods.onChange(({ previous, current }) => {
    for (const key of servicesOf([previous, current], all)) queue.add(key);
  });
  slices.onChange(({ previous, current }) => {
    const { metadata } = (current ?? previous) as EndpointSlice;
    const name = metadata.labels?.[serviceNameLabel];
    if (!name || metadata.labels?.[managedByLabel] !== managedBy) return;
    const key = keyOf({ namespace: metadata.namespace, name });
    expectations.settle(key, keyOf(metadata));
    queue.add(key);
  });

  async function sync(key: string): Promise<void> {
    const { namespace, name } = splitKey(key);
    const service = all.get(namespace, name);
    // The slices of a deleted Service go with their owner.
    if (!service) return expectations.forget(key);
    if (!isSelecting(service) || service.metadata.deletionTimestamp) return;
    if (!expectations.isSatisfied(key, platform.clock.now().monoMs)) return;
    const own = slices
      .list(namespace)
      .filter(
        ({ metadata }) =>
          metadata.labels?.[serviceNameLabel] === name &&
          metadata.labels[managedByLabel] === managedBy &&
          !metadata.deletionTimestamp,
      );
    const changes = decideSlices(service, allPods.list(namespace), own, (node) =>
      allNodes.get(undefined, node),
    );
    for (const slice of changes.create) await create(key, service, slice);
    for (const slice of changes.replace) await replaceObject(client, endpointSlices, slice);
    for (const slice of changes.delete) await deleteObject(client, endpointSlices, slice);
  }

  async function create(key: string, service: Service, slice: NewSlice): Promise<void> {
    const { name: base, namespace } = service.metadata;
    const generateName = `${base}-`;
    const name = generatedName(generateName, platform.random);
    const item = keyOf({ namespace, name });
    const metadata = {
      name,
      generateName,
      labels: sliceLabels(service),
      ownerReferences: [controllerReference(services, service)],
    };
    expectations.expect(key, "create", item, platform.clock.now().monoMs);
    try {
      await createObject(client, endpointSlices, namespace, { metadata, ...slice });
    } catch (error) {
      // If it happened all the same, its event leads to another look, and its endpoints are removed from one of the two.
      expectations.settle(key, item);
      if (isNamespaceEnding(error)) return;
      throw error;
    }
    if (slices.get(namespace, name)) expectations.settle(key, item);
  }

  return queue;
};
