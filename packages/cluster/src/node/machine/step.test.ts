import { describe, expect, it } from "vitest";
import { app, PodPlayer, podWith } from "../testing/pod-player.ts";

describe("a pod with one container", () => {
  it("is pending until its container runs, then running and ready", () => {
    const pod = new PodPlayer(podWith({}));
    expect(pod.effects()).toEqual(["set-up"]);
    expect(pod.status).toMatchObject({ phase: "Pending", startTime: "2026-01-01T00:00:00Z" });
    expect(pod.status.podIP).toBeUndefined();
    expect(pod.container().state).toEqual({ waiting: { reason: "ContainerCreating" } });
    pod.setUp();
    expect(pod.effects()).toEqual(["start app"]);
    pod.started();
    expect(pod.status).toMatchObject({ phase: "Running", podIP: "10.244.1.2", observedGeneration: 1 });
    expect(pod.container()).toMatchObject({
      state: { running: { startedAt: "2026-01-01T00:00:00Z" } },
      ready: true,
      started: true,
      restartCount: 0,
    });
    expect(pod.conditions).toEqual([
      "PodReadyToStartContainers",
      "Initialized",
      "Ready",
      "ContainersReady",
      "PodScheduled",
    ]);
  });

  it("tries its setup again when a volume is missing", () => {
    const pod = new PodPlayer(podWith({})).send({ type: "setup-failed", message: 'configmap "x" not found' });
    expect(pod.reports()).toEqual(['FailedMount: configmap "x" not found']);
    expect(pod.wait(2).effects()).toEqual(["set-up"]);
    expect(pod.container().state?.waiting?.reason).toBe("ContainerCreating");
  });

  it("shows an unknown image, and tries again with a back-off", () => {
    const pod = new PodPlayer(podWith({})).setUp();
    const fail = () =>
      pod.send({
        type: "start-failed",
        container: "app",
        attempt: pod.state.attempts,
        reason: "ErrImagePull",
        message: "no image",
      });
    fail();
    expect(pod.container().state?.waiting).toEqual({ reason: "ErrImagePull", message: "no image" });
    pod.effects();
    expect(pod.wait(9.9).effects()).toEqual([]);
    expect(pod.wait(0.1).effects()).toEqual(["start app"]);
    fail();
    expect(pod.container().state?.waiting?.reason).toBe("ImagePullBackOff");
    pod.effects();
    expect(pod.wait(19.9).effects()).toEqual([]);
    expect(pod.wait(0.1).effects()).toEqual(["start app"]);
    expect(pod.container().restartCount).toBe(0);
  });

  it("treats a program that cannot start like one that failed", () => {
    const pod = new PodPlayer(podWith({ restartPolicy: "Never" })).setUp();
    pod.send({
      type: "start-failed",
      container: "app",
      attempt: 1,
      reason: "StartError",
      message: "no program",
    });
    expect(pod.status.phase).toBe("Failed");
    expect(pod.container().state?.terminated).toMatchObject({ exitCode: 128, reason: "StartError" });
  });
});

describe("restarts", () => {
  it("come at once after the first crash, then after 10 s, 20 s and so on", () => {
    const pod = new PodPlayer(podWith({})).setUp().started();
    pod.effects();
    pod.exited(1);
    expect(pod.effects()).toEqual(["start app"]);
    for (const [index, delay] of [10, 20, 40, 80, 160, 300, 300].entries()) {
      pod.started().exited(1);
      expect(pod.status.phase).toBe("Running");
      expect(pod.container()).toMatchObject({
        restartCount: index + 1,
        ready: false,
        state: { waiting: { reason: "CrashLoopBackOff" } },
        lastState: { terminated: { exitCode: 1, reason: "Error" } },
      });
      pod.effects();
      expect(pod.wait(delay - 0.1).effects()).toEqual([]);
      expect(pod.wait(0.1).effects()).toEqual(["start app"]);
    }
  });

  it("name the wait and the pod as the kubelet does", () => {
    const pod = new PodPlayer(podWith({})).setUp().started().exited(1).started().exited(1);
    expect(pod.container().state?.waiting?.message).toBe(
      "back-off 10s restarting failed container=app pod=web_default(u1)",
    );
    expect(pod.reports()).toContain(
      "BackOff: Back-off restarting failed container app in pod web_default(u1)",
    );
  });

  it("start over after a container has run for long", () => {
    const pod = new PodPlayer(podWith({})).setUp().started().exited(1).started();
    pod.wait(601);
    pod.effects();
    expect(pod.exited(1).effects()).toEqual(["start app"]);
  });

  it.each([
    ["Never", 0, "Succeeded"],
    ["Never", 1, "Failed"],
    ["OnFailure", 0, "Succeeded"],
    ["OnFailure", 1, "Running"],
    ["Always", 0, "Running"],
  ])("with %s, exit code %i leads to %s", (restartPolicy, code, phase) => {
    const pod = new PodPlayer(podWith({ restartPolicy })).setUp().started();
    pod.effects();
    pod.exited(code);
    expect(pod.status.phase).toBe(phase);
    expect(pod.effects()).toEqual([phase === "Running" ? "start app" : "clean-up"]);
  });

  it("a completed pod is not ready, and says why", () => {
    const pod = new PodPlayer(podWith({ restartPolicy: "Never" })).setUp().started().exited(0);
    const ready = pod.status.conditions?.find(({ type }) => type === "Ready");
    expect(ready).toMatchObject({ status: "False", reason: "PodCompleted" });
    expect(pod.container().state?.terminated).toMatchObject({ exitCode: 0, reason: "Completed" });
  });

  it("a container that another agent left running is started again, and counted", () => {
    const status = new PodPlayer(podWith({})).setUp().started().status;
    const pod = new PodPlayer(podWith({}, status)).setUp().started();
    expect(pod.container()).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { reason: "ContainerStatusUnknown", exitCode: 137 } },
    });
  });

  it("work that has completed is not repeated by another agent", () => {
    const spec = { restartPolicy: "OnFailure", containers: [app("a"), app("b")] };
    const before = new PodPlayer(podWith(spec)).setUp().started("a").started("b").exited(0, "a");
    const pod = new PodPlayer(podWith(spec, before.status)).setUp();
    expect(pod.effects()).toEqual(["set-up", "start b"]);
  });
});

describe("init containers", () => {
  const spec = { initContainers: [app("one"), app("two")] };

  it("run one after the other before the containers", () => {
    const pod = new PodPlayer(podWith(spec)).setUp();
    expect(pod.effects()).toEqual(["set-up", "start one"]);
    pod.started("one");
    expect(pod.status.phase).toBe("Pending");
    expect(pod.container().state?.waiting?.reason).toBe("PodInitializing");
    expect(pod.status.initContainerStatuses?.[1]?.state?.waiting?.reason).toBe("PodInitializing");
    const initialized = pod.status.conditions?.find(({ type }) => type === "Initialized");
    expect(initialized).toMatchObject({
      status: "False",
      reason: "ContainersNotInitialized",
      message: "containers with incomplete status: [one two]",
    });
    expect(pod.exited(0, "one").effects()).toEqual(["start two"]);
    expect(pod.started("two").exited(0, "two").effects()).toEqual(["start app"]);
    pod.started();
    expect(pod.status.phase).toBe("Running");
    expect(pod.container("one")).toMatchObject({ ready: true, started: false });
    expect(pod.conditions).toContain("Initialized");
  });

  it("are tried again with a back-off", () => {
    const pod = new PodPlayer(podWith(spec)).setUp().started("one");
    pod.effects();
    expect(pod.exited(1, "one").effects()).toEqual(["start one"]);
    pod.started("one").exited(1, "one");
    expect(pod.status.phase).toBe("Pending");
    expect(pod.container("one").state?.waiting?.reason).toBe("CrashLoopBackOff");
  });

  it("fail the pod if nothing is restarted", () => {
    const pod = new PodPlayer(podWith({ ...spec, restartPolicy: "Never" }))
      .setUp()
      .started("one")
      .exited(3, "one");
    expect(pod.status.phase).toBe("Failed");
    expect(pod.effects()).toEqual(["set-up", "start one", "clean-up"]);
  });
});

describe("sidecars", () => {
  const sidecar = app("proxy", {
    restartPolicy: "Always",
    startupProbe: { tcpSocket: { port: 1 }, periodSeconds: 1 },
  });

  it("hold back the next container until they have started", () => {
    const pod = new PodPlayer(podWith({ initContainers: [sidecar, app("init")] })).setUp().started("proxy");
    expect(pod.effects()).toEqual(["set-up", "start proxy", "probe proxy startup 1000"]);
    expect(pod.probed("startup", undefined, "proxy").effects()).toEqual(["start init"]);
  });

  it("are restarted whatever the restart policy says, and stopped when the work is complete", () => {
    const pod = new PodPlayer(
      podWith({ initContainers: [app("p", { restartPolicy: "Always" })], restartPolicy: "Never" }),
    );
    pod.setUp().started("p").started();
    pod.effects();
    expect(pod.exited(0, "p").effects()).toEqual(["start p"]);
    pod.started("p");
    expect(pod.exited(0).effects()).toEqual(["stop p 30000"]);
    expect(pod.exited(143, "p").effects()).toEqual(["clean-up"]);
    expect(pod.status.phase).toBe("Succeeded");
  });

  it("keep the pod from its final phase while they run", () => {
    const initContainers = [app("p", { restartPolicy: "Always" })];
    const pod = new PodPlayer(podWith({ initContainers, restartPolicy: "Never" }))
      .setUp()
      .started("p")
      .started();
    expect(pod.exited(1).status.phase).toBe("Running");
    expect(pod.exited(0, "p").status.phase).toBe("Failed");
  });

  it("stop after the containers, the last one first", () => {
    const sidecars = [app("a", { restartPolicy: "Always" }), app("b", { restartPolicy: "Always" })];
    const pod = new PodPlayer(podWith({ initContainers: sidecars }))
      .setUp()
      .started("a")
      .started("b")
      .started();
    pod.effects();
    expect(pod.deleted(30).effects()).toEqual(["stop app 30000"]);
    expect(pod.wait(10).exited(0).effects()).toEqual(["stop b 20000"]);
    expect(pod.exited(0, "b").effects()).toEqual(["stop a 20000"]);
    expect(pod.exited(0, "a").effects()).toEqual(["clean-up"]);
  });
});
