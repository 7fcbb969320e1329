/** The cluster beside its elections, and what a page can break in a sandbox. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { endAll, leases, record, TestCluster } from "../processes/operate/commands.ts";
import { picture, startBrowser } from "./browser.ts";
import { openUi, startUi } from "./session.ts";

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

it("shows nodes, pods, Services and events, breaks something, and repairs it", async () => {
  await cluster.create("/api/v1/nodes", { metadata: { name: "node-1" } });
  await cluster.create("/api/v1/namespaces/default/pods", {
    metadata: { name: "web-1" },
    spec: { nodeName: "node-1", containers: [{ name: "c", image: "i" }] },
  });
  await cluster.create("/api/v1/namespaces/default/services", {
    metadata: { name: "web" },
    spec: { ports: [{ port: 80 }] },
  });
  await cluster.create(leases("default"), { metadata: { name: "web" }, spec: record("web-1") });
  const ui = await startUi(["-n", "default", "--kubeconfig", cluster.kubeconfig]);
  const { page, errors } = await openUi(browser, ui);
  await page.getByRole("button", { name: "Cluster", exact: true }).click();
  const panel = page.locator("#cluster");
  await expect
    .poll(() => panel.textContent())
    .toMatch(/Nodes \(1\).*node-1.*default\/web-1.*Pending.*node-1.*default\/web/s);
  await page.getByRole("button", { name: "Slow API" }).click();
  expect(await page.locator(".dialog").textContent()).toContain("takes 500 ms longer");
  await page.locator(".dialog").getByRole("button", { name: "Slow API" }).click();
  await expect.poll(() => page.locator(".outcome").textContent()).toBe("Done.");
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await expect.poll(() => panel.textContent()).toContain('In force: {"latencyMs":500}');
  expect(cluster.sandbox.faults.list()).toHaveLength(1);
  await picture(page, "cluster");
  await page.getByRole("button", { name: "Repair everything" }).click();
  await page.locator(".dialog").getByRole("button", { name: "Repair everything" }).click();
  await expect.poll(() => cluster.sandbox.faults.list()).toEqual([]);
  await page.locator(".dialog").getByRole("button", { name: "Close", exact: true }).click();
  await page.getByRole("button", { name: "Delete pod default/web-1" }).click();
  await page.locator(".dialog").getByRole("button", { name: "Delete pod" }).click();
  await expect.poll(() => page.locator(".outcome").textContent()).toBe("Done.");
  expect(errors).toEqual([]);
});
