import { VirtualClock } from "@tenure/base/virtual-clock";
import { KubeError, type KubeRequest } from "@tenure/kube";
import { expect, it } from "vitest";
import { fakeApi } from "../testing/fake-api.ts";
import { pod } from "../testing/fixtures.ts";
import { EventRecorder } from "./event-recorder.ts";
import type { KubeObject } from "./objects.ts";

const target = { ...pod("web"), apiVersion: "v1", kind: "Pod" };
const report = { type: "Normal", reason: "Scheduled", message: "assigned" } as const;
const platform = { clock: new VirtualClock(), random: () => 0 };

it("writes an event about the object, and counts a repetition", async () => {
  const api = fakeApi();
  const recorder = new EventRecorder({ client: api, platform, component: "default-scheduler" });
  recorder.record(target, report);
  recorder.record(target, report);
  recorder.record(target, { ...report, message: "another" });
  await recorder.flush();
  const [first, second, third] = api.requests;
  expect(first).toMatchObject({
    method: "POST",
    path: "/api/v1/namespaces/default/events",
    body: {
      count: 1,
      source: { component: "default-scheduler" },
      involvedObject: { kind: "Pod", name: "web" },
    },
  });
  const { name } = ((first as KubeRequest).body as KubeObject).metadata;
  expect(second).toMatchObject({
    method: "PATCH",
    path: `/api/v1/namespaces/default/events/${name}`,
    body: { count: 2 },
  });
  expect(third).toMatchObject({ method: "POST", body: { message: "another" } });
});

it("writes an event anew that has expired, and drops one that fails", async () => {
  let isDown = false;
  const api = fakeApi(({ method }) => {
    if (isDown) throw new KubeError("Unreachable", "down");
    if (method === "PATCH") throw new KubeError("NotFound", "expired", { status: 404 });
    return {};
  });
  const recorder = new EventRecorder({ client: api, platform, component: "test" });
  recorder.record(target, report);
  recorder.record(target, report);
  await recorder.flush();
  expect(api.requests.map(({ method }) => method)).toEqual(["POST", "PATCH", "POST"]);
  isDown = true;
  recorder.record(target, report);
  await expect(recorder.flush()).resolves.toBeUndefined();
});
