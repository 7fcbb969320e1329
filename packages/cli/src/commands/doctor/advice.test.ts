import { expect, it } from "vitest";
import { type AdvicePlace, adviceFor } from "./advice.ts";

const place = (more: Partial<AdvicePlace> = {}) =>
  adviceFor({
    namespace: "prod",
    flags: {},
    isStore: false,
    isPod: false,
    sandboxKubeconfig: "/home/a/.tenure/sandbox.kubeconfig",
    ...more,
  });

it.each([
  [{}, "kubectl get pods -n prod", "tenure resume x -n prod"],
  [
    { flags: { kubeconfig: "/etc/admin conf", context: "prod" } },
    "kubectl get pods -n prod --kubeconfig '/etc/admin conf' --context prod",
    "tenure resume x -n prod --kubeconfig '/etc/admin conf' --context prod",
  ],
  [
    { flags: { sandbox: "https://127.0.0.1:6443" } },
    "kubectl get pods -n prod --kubeconfig /home/a/.tenure/sandbox.kubeconfig",
    "tenure resume x -n prod --sandbox https://127.0.0.1:6443",
  ],
  [
    { flags: { sandbox: "http://127.0.0.1:8080" } },
    "kubectl get pods -n prod --server http://127.0.0.1:8080",
    "tenure resume x -n prod --sandbox http://127.0.0.1:8080",
  ],
] as const)("%j", (more, kubectl, tenure) => {
  expect(place(more).kubectl("get pods")).toBe(kubectl);
  expect(place(more).tenure("resume x")).toBe(tenure);
});

it("knows a pod, in which there is no kubeconfig", () => {
  expect(place({ isPod: true }).where).toBe("pod");
  expect(place({ isPod: true, flags: { kubeconfig: "x" } }).where).toBe("machine");
  expect(place().where).toBe("machine");
});

it("names the store, but never prints a password", () => {
  const store = (lock: string) => place({ isStore: true, lock }).tenure("resume x");
  expect(store("etcd://10.0.0.1:2379")).toBe("tenure resume x --lock etcd://10.0.0.1:2379");
  expect(store("postgres://app:secret@db/app")).toBe("tenure resume x");
  expect(place({ isStore: true }).where).toBe("store");
});

it("passes manifests to kubectl apply", () => {
  expect(place().apply("kind: Role", "kind: RoleBinding")).toBe(
    "kubectl apply -f - -n prod <<'EOF'\nkind: Role\n---\nkind: RoleBinding\nEOF",
  );
});
