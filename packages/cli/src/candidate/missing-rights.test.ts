import type { KubeClient, KubeRequest } from "@tenure/kube";
import { expect, it } from "vitest";
import { describeMissingRights } from "./missing-rights.ts";

/** A server that allows these verbs. */
function clientAllowing(...verbs: string[]): KubeClient {
  const request = async ({ body }: KubeRequest) => {
    const { verb } = (body as { spec: { resourceAttributes: { verb: string } } }).spec.resourceAttributes;
    return { status: { allowed: verbs.includes(verb) } };
  };
  return { request } as unknown as KubeClient;
}

it("names all missing rights at once, with the rules that grant them", async () => {
  const text = await describeMissingRights(clientAllowing("watch"), "prod", "lease", "billing");
  expect(text).toMatch(/^this replica may not .*in namespace "prod"; add this to a Role in namespace prod/);
  for (const verb of ["get", "create", "update"]) expect(text).toContain(verb);
  expect(text).not.toContain("\n");
});

it("names the rights on both objects of a migration", async () => {
  const text = await describeMissingRights(clientAllowing(), "prod", "configmap+lease", "billing");
  expect(text).toContain("configmaps");
  expect(text).toContain("leases");
});

it("says nothing if all are there, or if the server does not tell", async () => {
  const all = ["get", "create", "update", "watch", "list", "patch"];
  expect(await describeMissingRights(clientAllowing(...all), "prod", "lease", "billing")).toBeUndefined();
  const silent = { request: async () => Promise.reject(new Error("no answer")) } as unknown as KubeClient;
  expect(await describeMissingRights(silent, "prod", "lease", "billing")).toBeUndefined();
});
