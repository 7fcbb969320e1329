import type { KubeClient, KubeRequest } from "@tenure/kube";
import { expect, it } from "vitest";
import { missingRights } from "./missing-rights.ts";

/** A server that allows these verbs. */
function clientAllowing(...verbs: string[]): KubeClient {
  const request = async ({ body }: KubeRequest) => {
    const { verb } = (body as { spec: { resourceAttributes: { verb: string } } }).spec.resourceAttributes;
    return { status: { allowed: verbs.includes(verb) } };
  };
  return { request } as unknown as KubeClient;
}

it("names all missing rights at once, with the rules that grant them", async () => {
  const text = await missingRights(
    { lock: "lease", leaseLockName: "billing" },
    { client: clientAllowing("watch"), namespace: "prod" },
  );
  expect(text).toMatch(/^this replica may not .*in namespace "prod"; add this to a Role in namespace prod/);
  for (const verb of ["get", "create", "update"]) expect(text).toContain(verb);
  expect(text).not.toContain("\n");
});

it("names the rights on both objects of a migration", async () => {
  const text = await missingRights(
    { lock: "configmap+lease", leaseLockName: "billing" },
    { client: clientAllowing(), namespace: "prod" },
  );
  expect(text).toContain("configmaps");
  expect(text).toContain("leases");
});

it("says nothing if all are there, or if the server does not tell", async () => {
  const all = ["get", "create", "update", "watch", "list", "patch"];
  expect(
    await missingRights(
      { lock: "lease", leaseLockName: "billing" },
      { client: clientAllowing(...all), namespace: "prod" },
    ),
  ).toBeUndefined();
  const silent = { request: async () => Promise.reject(new Error("no answer")) } as unknown as KubeClient;
  expect(
    await missingRights({ lock: "lease", leaseLockName: "billing" }, { client: silent, namespace: "prod" }),
  ).toBeUndefined();
});
