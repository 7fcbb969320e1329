import { VirtualClock } from "@tenure/base/virtual-clock";
import type { WatchRequest } from "@tenure/kube";
import { expect, it } from "vitest";
import { fakeApi } from "../testing/fake-api.ts";
import { type Change, Informer } from "./informer.ts";
import type { KubeObject } from "./objects.ts";
import { namespaces } from "./resources.ts";

const object = (name: string, version: number, uid = name): KubeObject => ({
  metadata: { name, uid, resourceVersion: String(version) },
});

/** An informer whose lists return these pages, one after the other. */
function start(pages: (() => { version: number; items: KubeObject[]; next?: string })[]) {
  const clock = new VirtualClock();
  const api = fakeApi(() => {
    const page = pages.shift()?.() ?? { version: 0, items: [] };
    return {
      metadata: { resourceVersion: String(page.version), continue: page.next ?? "" },
      items: page.items,
    };
  });
  const informer = new Informer({
    client: api,
    resource: namespaces,
    platform: { clock, random: () => 0.5 },
  });
  const changes: string[] = [];
  informer.onChange(({ previous, current }: Change<KubeObject>) => {
    const version = (each: KubeObject | undefined) => each?.metadata.resourceVersion ?? "-";
    changes.push(`${(current ?? previous)?.metadata.name} ${version(previous)}→${version(current)}`);
  });
  void informer.run(new AbortController().signal);
  const watch = api.watching as unknown as WatchRequest<KubeObject>;
  const settle = () => clock.pass(0);
  return { informer, changes, watch, settle, clock, api };
}

it("is complete after all pages of the list are read", async () => {
  const { informer, watch, settle, api } = start([
    () => ({ version: 5, items: [object("a", 1)], next: "page-2" }),
    () => ({ version: 5, items: [object("b", 2)] }),
  ]);
  watch.onUp({ resumed: false });
  await settle();
  await informer.synced;
  expect(informer.list().map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
  expect(api.requests.map(({ query }) => query?.continue)).toEqual([undefined, "page-2"]);
});

it("notices a deletion that happened while the watch was interrupted", async () => {
  const { informer, changes, watch, settle } = start([
    () => ({ version: 5, items: [object("a", 1), object("b", 2)] }),
    () => ({ version: 9, items: [object("b", 2)] }),
  ]);
  watch.onUp({ resumed: false });
  await settle();
  watch.onUp({ resumed: false });
  await settle();
  expect(informer.get(undefined, "a")).toBeUndefined();
  expect(changes).toEqual(["a -→1", "b -→2", "a 1→-"]);
});

it("does not go back to an event that is older than the list", async () => {
  const { informer, watch, settle } = start([() => ({ version: 9, items: [object("a", 8)] })]);
  watch.onUp({ resumed: false });
  await settle();
  watch.onEvent({ type: "ADDED", object: object("a", 3) });
  watch.onEvent({ type: "ADDED", object: object("gone", 4) });
  expect(informer.list().map(({ metadata }) => metadata.resourceVersion)).toEqual(["8"]);
});

it("applies events that arrive during the list afterwards", async () => {
  const { informer, watch, settle } = start([() => ({ version: 5, items: [object("a", 4)] })]);
  watch.onUp({ resumed: false });
  watch.onEvent({ type: "DELETED", object: object("a", 7) });
  watch.onEvent({ type: "ADDED", object: object("b", 8) });
  await settle();
  expect(informer.list().map(({ metadata }) => metadata.name)).toEqual(["b"]);
});

it("reports an object that was replaced under its name as deleted and new", async () => {
  const { changes, watch, settle } = start([() => ({ version: 5, items: [object("a", 4, "first")] })]);
  watch.onUp({ resumed: false });
  await settle();
  watch.onEvent({ type: "MODIFIED", object: object("a", 7, "second") });
  expect(changes).toEqual(["a -→4", "a 4→-", "a -→7"]);
});

it("repeats a list that failed", async () => {
  let attempts = 0;
  const fail = () => {
    attempts += 1;
    if (attempts < 3) throw new Error("unreachable");
    return { version: 5, items: [object("a", 4)] };
  };
  const { informer, watch, clock } = start([fail, fail, fail]);
  watch.onUp({ resumed: false });
  await clock.until(() => informer.list().length === 1);
  expect(attempts).toBe(3);
});
