import { describe, expect, it } from "vitest";
import { objectsFor } from "./objects.ts";
import { type ManifestOptions, modes } from "./options.ts";

interface PodSpec {
  readonly automountServiceAccountToken: boolean;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes: readonly { readonly name: string; readonly projected?: object }[];
}
interface Container {
  readonly name: string;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

const podOf = (mode: ManifestOptions["mode"] = "run"): PodSpec => {
  const options = { name: "billing", namespace: "prod", image: "x:1", command: ["x"], mode };
  const { spec } = objectsFor(options).find(({ kind }) => kind === "Deployment") as unknown as {
    spec: { template: { spec: PodSpec } };
  };
  return spec.template.spec;
};

/** Where credentials are found in a pod. */
const tokenPath = "/var/run/secrets/kubernetes.io/serviceaccount";

describe("the token of the service account", () => {
  it("is mounted only into the sidecar, not into the application", () => {
    const pod = podOf("sidecar");
    expect(pod.automountServiceAccountToken).toBe(false);
    const withToken = [...(pod.initContainers ?? []), ...pod.containers]
      .filter(({ volumeMounts }) => volumeMounts.some(({ mountPath }) => mountPath === tokenPath))
      .map(({ name }) => name);
    expect(withToken).toEqual(["tenure"]);
  });

  it("comes with the certificate authority and the namespace, as Kubernetes mounts it", () => {
    const volume = podOf("sidecar").volumes.find(({ name }) => name === "token");
    const paths = [...JSON.stringify(volume?.projected).matchAll(/"path":"([^"]+)"/g)].map(
      ([, path]) => path,
    );
    expect(paths).toEqual(["token", "ca.crt", "namespace"]);
  });

  it.each(modes.filter((mode) => mode !== "sidecar"))("is mounted by Kubernetes in mode %s", (mode) => {
    expect(podOf(mode).automountServiceAccountToken).toBe(true);
    expect(podOf(mode).volumes.map(({ name }) => name)).toEqual(["tmp"]);
  });
});
