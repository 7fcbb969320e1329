/** The page in the cluster: its manifest applies, its rights suffice, and it can only look. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadAll } from "js-yaml";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePorts } from "../kube/ports.mjs";
import { endAll, leases, record, TestCluster } from "../processes/operate/commands.ts";
import { newPage, startBrowser } from "./browser.ts";
import { startUi } from "./session.ts";

let browser: Browser;
let cluster: TestCluster;
beforeAll(async () => {
  browser = await startBrowser();
  cluster = await TestCluster.start();
});
afterAll(async () => {
  endAll();
  await browser?.close();
  await cluster?.close();
});

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly namespace?: string };
  readonly spec?: {
    readonly template?: { readonly spec: { readonly containers: readonly { readonly args: string[] }[] } };
  };
}

const plurals: Readonly<Record<string, string>> = { NetworkPolicy: "networkpolicies" };

it("shows every election with the rights of the manifest, without a token and without a button", async () => {
  const text = await readFile(fileURLToPath(new URL("../../deploy/ui/ui.yaml", import.meta.url)), "utf8");
  const objects = loadAll(text) as Manifest[];
  for (const object of objects) {
    const { apiVersion, kind, metadata } = object;
    const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const scope = metadata.namespace === undefined ? "" : `/namespaces/${metadata.namespace}`;
    await cluster.create(`${root}${scope}/${plurals[kind] ?? `${kind.toLowerCase()}s`}`, object);
  }
  await cluster.create(leases("default"), { metadata: { name: "billing" }, spec: record("billing-1") });
  const { status } = await cluster.create<{ status: { token: string } }>(
    "/api/v1/namespaces/tenure-ui/serviceaccounts/tenure-ui/token",
    { spec: {} },
  );
  const admin = await readFile(cluster.kubeconfig, "utf8");
  const kubeconfig = join(cluster.folder, "ui.kubeconfig");
  await writeFile(kubeconfig, admin.replace(/(\btoken"?: *"?)[^"\s,}]+/, `$1${status.token}`));
  const [args = []] = objects.flatMap(
    ({ spec }) => spec?.template?.spec.containers.map((container) => container.args) ?? [],
  );
  const [port] = await freePorts(1);
  const ui = await startUi([
    ...args.slice(1).map((word) => (word === "8080" ? String(port) : word)),
    "--kubeconfig",
    kubeconfig,
  ]);
  expect(ui.url).toBe(`http://0.0.0.0:${port}/`);
  const { page, errors } = await newPage(browser);
  await page.goto(`http://localhost:${port}/`);
  await page.getByRole("button", { name: /^default\/billing/ }).click();
  await expect.poll(() => page.locator("#details h2").textContent()).toBe("default/billing");
  expect(await page.locator(".actions").textContent()).toBe("");
  expect(errors).toEqual([]);
});
