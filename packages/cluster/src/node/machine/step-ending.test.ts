import { describe, expect, it } from "vitest";
import { app, PodPlayer, podWith } from "../testing/pod-player.ts";

describe("probes", () => {
  const probe = { tcpSocket: { port: 1 }, periodSeconds: 5, failureThreshold: 2, timeoutSeconds: 3 };

  it("a pod is ready after its readiness probe has passed, and not after it failed often enough", () => {
    const pod = new PodPlayer(podWith({ containers: [app("app", { readinessProbe: probe })] })).setUp();
    pod.effects();
    expect(pod.started().effects()).toEqual(["probe app readiness 3000"]);
    expect(pod.container().ready).toBe(false);
    const ready = pod.status.conditions?.find(({ type }) => type === "Ready");
    expect(ready).toMatchObject({
      reason: "ContainersNotReady",
      message: "containers with unready status: [app]",
    });
    pod.probed("readiness");
    expect(pod.container().ready).toBe(true);
    pod.wait(5).probed("readiness", "refused");
    expect(pod.container().ready).toBe(true);
    pod.wait(5).probed("readiness", "refused");
    expect(pod.container().ready).toBe(false);
    expect(pod.reports()).toContain("Unhealthy: Readiness probe failed: refused");
  });

  it("a container whose liveness probe fails is stopped and restarted", () => {
    const pod = new PodPlayer(podWith({ containers: [app("app", { livenessProbe: probe })] }))
      .setUp()
      .started();
    pod.probed("liveness", "refused").wait(5);
    pod.effects();
    pod.probed("liveness", "refused");
    expect(pod.effects()).toEqual(["stop app 30000"]);
    expect(pod.exited(143).effects()).toEqual(["start app"]);
  });

  it("a startup probe holds back the others", () => {
    const container = app("app", { startupProbe: probe, livenessProbe: probe, readinessProbe: probe });
    const pod = new PodPlayer(podWith({ containers: [container] })).setUp();
    pod.effects();
    expect(pod.started().effects()).toEqual(["probe app startup 3000"]);
    expect(pod.container().started).toBe(false);
    expect(pod.probed("startup").effects()).toEqual(["probe app liveness 3000", "probe app readiness 3000"]);
    expect(pod.container().started).toBe(true);
  });

  it("wait for their initial delay, and for the result before", () => {
    const delayed = { ...probe, initialDelaySeconds: 7 };
    const pod = new PodPlayer(podWith({ containers: [app("app", { readinessProbe: delayed })] }))
      .setUp()
      .started();
    pod.effects();
    expect(pod.wait(6.9).effects()).toEqual([]);
    expect(pod.wait(0.1).effects()).toEqual(["probe app readiness 3000"]);
    expect(pod.wait(20).effects()).toEqual([]);
    expect(pod.probed("readiness").effects()).toEqual(["probe app readiness 3000"]);
  });

  it("a result of an earlier run does not count", () => {
    const pod = new PodPlayer(podWith({ containers: [app("app", { readinessProbe: probe })] }))
      .setUp()
      .started();
    pod.exited(1).started();
    pod.send({ type: "probed", container: "app", attempt: 1, probe: "readiness" });
    expect(pod.container().ready).toBe(false);
  });

  it("a readiness gate keeps a pod from being ready", () => {
    const pod = new PodPlayer(podWith({ readinessGates: [{ conditionType: "example.com/x" }] }))
      .setUp()
      .started();
    expect(pod.conditions).not.toContain("Ready");
    expect(pod.conditions).toContain("ContainersReady");
  });
});

describe("hooks", () => {
  it("a container counts as running after its postStart hook", () => {
    const lifecycle = { postStart: { exec: { command: ["true"] } } };
    const pod = new PodPlayer(podWith({ containers: [app("app", { lifecycle }), app("next")] }))
      .setUp()
      .started();
    expect(pod.effects()).toEqual(["set-up", "start app", "hook app postStart Infinity"]);
    expect(pod.container().state?.waiting?.reason).toBe("ContainerCreating");
    expect(pod.hookEnded("postStart").effects()).toEqual(["start next"]);
    expect(pod.container().state?.running).toBeDefined();
  });

  it("a postStart hook that fails stops the container", () => {
    const lifecycle = { postStart: { exec: { command: ["false"] } } };
    const pod = new PodPlayer(podWith({ containers: [app("app", { lifecycle })] })).setUp().started();
    pod.effects();
    expect(pod.hookEnded("postStart", "exit code 1").effects()).toEqual(["stop app 30000"]);
  });

  it("a preStop hook runs before the signal, and uses up the grace period", () => {
    const lifecycle = { preStop: { exec: { command: ["sleep", "5"] } } };
    const pod = new PodPlayer(podWith({ containers: [app("app", { lifecycle })] })).setUp().started();
    pod.effects();
    expect(pod.deleted(30).effects()).toEqual(["hook app preStop 30000"]);
    expect(pod.wait(5).hookEnded("preStop").effects()).toEqual(["stop app 25000"]);
  });

  it("a preStop hook that takes too long leaves the container two seconds", () => {
    const lifecycle = { preStop: { exec: { command: ["sleep", "99"] } } };
    const pod = new PodPlayer(podWith({ containers: [app("app", { lifecycle })] })).setUp().started();
    pod.deleted(10);
    pod.effects();
    expect(pod.wait(10).effects()).toEqual(["stop app 2000"]);
  });
});

describe("the end of a pod", () => {
  it("stops, cleans up and only then removes the pod", () => {
    const pod = new PodPlayer(podWith({})).setUp().started();
    pod.effects();
    expect(pod.deleted(30).effects()).toEqual(["stop app 30000"]);
    expect(pod.status.phase).toBe("Running");
    expect(pod.exited(143).effects()).toEqual(["clean-up"]);
    expect(pod.status.phase).toBe("Failed");
    expect(pod.send({ type: "cleaned-up" }).effects()).toEqual(["remove"]);
    expect(pod.send({ type: "tick" }).effects()).toEqual([]);
  });

  it("a second deletion shortens the grace period", () => {
    const pod = new PodPlayer(podWith({})).setUp().started().deleted(30);
    pod.effects();
    expect(pod.wait(1).deleted(1).effects()).toEqual(["stop app 1000"]);
    expect(pod.deleted(20).effects()).toEqual([]);
  });

  it("a container that is just starting is stopped as soon as it runs", () => {
    const pod = new PodPlayer(podWith({})).setUp().deleted(30);
    pod.effects();
    expect(pod.started().effects()).toEqual(["stop app 30000"]);
  });

  it("a pod that is deleted before it ran has failed, so that its owner does not wait for its end", () => {
    const pod = new PodPlayer(podWith({})).deleted(30);
    expect(pod.status.phase).toBe("Pending");
    pod.setUp();
    expect(pod.status.phase).toBe("Failed");
  });

  it("a pod that vanished from the API is stopped, and nothing is removed", () => {
    const pod = new PodPlayer(podWith({})).setUp().started();
    pod.effects();
    expect(pod.send({ type: "vanished" }).effects()).toEqual(["stop app 1000"]);
    expect(pod.exited(137).effects()).toEqual(["clean-up"]);
    expect(pod.send({ type: "cleaned-up" }).effects()).toEqual([]);
  });

  it("a pod that exceeds its deadline fails", () => {
    const pod = new PodPlayer(podWith({ activeDeadlineSeconds: 60 })).setUp().started();
    pod.effects();
    expect(pod.wait(60).effects()).toEqual(["stop app 30000"]);
    expect(pod.exited(0).status).toMatchObject({ phase: "Failed", reason: "DeadlineExceeded" });
  });

  it("nothing is restarted while the pod ends", () => {
    const pod = new PodPlayer(podWith({ containers: [app("a"), app("b")] }))
      .setUp()
      .started("a")
      .started("b");
    pod.deleted(30);
    pod.effects();
    expect(pod.exited(1, "a").wait(60).effects()).toEqual([]);
  });
});
