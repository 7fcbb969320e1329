import { VirtualClock } from "@tenure/base/virtual-clock";
import { KubeError, type KubeRequest } from "@tenure/kube";
import { expect, it } from "vitest";
import { EventRecorder } from "../client/event-recorder.ts";
import { Informer } from "../client/informer.ts";
import type { Pod } from "../client/objects.ts";
import { controllerReference } from "../client/owner.ts";
import { pods, replicaSets } from "../client/resources.ts";
import { fakeApi } from "../testing/fake-api.ts";
import { pod, replicaSet } from "../testing/fixtures.ts";
import { PodWriter } from "./pod-writer.ts";

const owner = replicaSet("web", [3]);
const source = { owner, controller: controllerReference(replicaSets, owner), template: owner.spec.template };
const nameOf = ({ body }: KubeRequest) => (body as Pod).metadata.name;

function start(answer: (request: KubeRequest) => unknown) {
  let seed = 0;
  const platform = { clock: new VirtualClock(), random: () => (seed = (seed + 0.37) % 1) };
  const api = fakeApi((request) => (request.path.endsWith("/events") ? {} : answer(request)));
  const cached = new Informer<Pod>({ client: api, resource: pods, platform });
  const recorder = new EventRecorder({ client: fakeApi(), platform, component: "test" });
  const writer = new PodWriter({ client: api, platform, recorder, owners: replicaSets, pods: cached });
  return { writer, api, clock: platform.clock };
}

it("is settled only when the informer shows every pod that was created", async () => {
  const { writer, api } = start(() => ({}));
  expect(writer.isSettled("default/web")).toBe(true);
  await writer.create("default/web", [source, source]);
  const [a = "", b = ""] = api.requests.map(nameOf);
  writer.observe("default/web", pod(a), false);
  expect(writer.isSettled("default/web")).toBe(false);
  writer.observe("default/web", pod(b), false);
  expect(writer.isSettled("default/web")).toBe(true);
});

it("repeats a create whose answer was lost with the same name", async () => {
  let isLost = true;
  const { writer, api } = start(() => {
    if (isLost) throw new KubeError("Timeout", "no answer");
    throw new KubeError("AlreadyExists", "it happened", { status: 409 });
  });
  const failure = await writer.create("default/web", [source]);
  expect(failure?.reason).toBe("FailedCreate");
  expect(writer.isSettled("default/web")).toBe(false);
  isLost = false;
  await writer.repeatUnknown("default/web", owner);
  const [first = "", second] = api.requests.map(nameOf);
  expect(second).toBe(first);
  expect(writer.isSettled("default/web")).toBe(false);
  writer.observe("default/web", pod(first), false);
  expect(writer.isSettled("default/web")).toBe(true);
});

it("does not wait for a create that was rejected, and sends no further batch", async () => {
  const { writer, api } = start(() => {
    throw new KubeError("Forbidden", "quota", { status: 403 });
  });
  const failure = await writer.create("default/web", [source, source, source]);
  expect(failure?.reason).toBe("FailedCreate");
  expect(api.requests).toHaveLength(1);
  expect(writer.isSettled("default/web")).toBe(true);
});

it("is settled when the informer shows that a pod is being deleted", async () => {
  const { writer } = start(() => ({}));
  const victim = pod("web-1");
  await writer.delete("default/web", [victim], owner);
  writer.observe("default/web", victim, true);
  expect(writer.isSettled("default/web")).toBe(true);
});

it("gives up waiting after five minutes, in case an event was never delivered", async () => {
  const { writer, clock } = start(() => ({}));
  await writer.create("default/web", [source]);
  await clock.pass(5 * 60_000);
  expect(writer.isSettled("default/web")).toBe(false);
  await clock.pass(1);
  expect(writer.isSettled("default/web")).toBe(true);
});
