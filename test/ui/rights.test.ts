/** Who may do what: viewers without rights, pages of other origins, frames, a second use of the address. */

import { readFile, writeFile } from "node:fs/promises";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { endAll, leases, record, TestCluster } from "../processes/operate/commands.ts";
import { newPage, startBrowser } from "./browser.ts";
import { openUi, startUi, type Ui } from "./session.ts";

let browser: Browser;
let cluster: TestCluster;
const evil = '<img src=x onerror="window.hacked=1">';
beforeAll(async () => {
  browser = await startBrowser();
  cluster = await TestCluster.start();
  await cluster.create(leases("default"), {
    metadata: {
      name: "guarded",
      annotations: { "tenure.dev/pause-reason": evil, "tenure.dev/paused-by": evil },
    },
    spec: record(evil, { leaseDurationSeconds: 3_600 }),
  });
});
afterAll(async () => {
  endAll();
  await browser?.close();
  await cluster?.close();
});

const annotations = async () =>
  (
    await cluster.client.request<{ metadata: { annotations: Record<string, string> } }>({
      method: "GET",
      path: `${leases("default")}/guarded`,
    })
  ).metadata.annotations;

const uiAs = (kubeconfig: string) => startUi(["-n", "default", "--kubeconfig", kubeconfig]);

/** The kubeconfig of a user who may only read Leases. */
async function viewer(): Promise<string> {
  const meta = { name: "viewer", namespace: "default" };
  const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
  await cluster.create("/api/v1/namespaces/default/serviceaccounts", { metadata: meta });
  await cluster.create(`${rbac}/roles`, {
    metadata: meta,
    rules: [{ apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "list", "watch"] }],
  });
  await cluster.create(`${rbac}/rolebindings`, {
    metadata: meta,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "viewer" },
    subjects: [{ kind: "ServiceAccount", ...meta }],
  });
  const { status } = await cluster.create<{ status: { token: string } }>(
    "/api/v1/namespaces/default/serviceaccounts/viewer/token",
    { spec: {} },
  );
  const text = await readFile(cluster.kubeconfig, "utf8");
  const path = join(cluster.folder, "viewer.kubeconfig");
  await writeFile(
    path,
    text
      .replace(/(\btoken"?: *"?)[^"\s,}]+/, `$1${status.token}`)
      .replace(/^.*client-(certificate|key)-data.*\n/gm, ""),
  );
  return path;
}

it("a viewer without rights sees everything and has no button", async () => {
  const ui = await uiAs(await viewer());
  const { page, errors } = await openUi(browser, ui);
  await page.getByRole("button", { name: /^default\/guarded/ }).click();
  await expect
    .poll(() => page.locator(".actions").textContent())
    .toBe('You can look, but not act. You may not patch leases "guarded" in namespace "default".');
  expect(await page.locator(".actions button").count()).toBe(0);
  // A request that the page does not offer is refused by the API server.
  const answer = await page.evaluate(async () => {
    const response = await fetch("orders", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${sessionStorage.getItem("tenure-session")}`,
      },
      body: JSON.stringify({ order: "pause", election: "default/guarded" }),
    });
    return (await response.json()) as { ok: boolean; message: string };
  });
  expect(answer).toMatchObject({ ok: false, message: expect.stringContaining("is not allowed to") });
  expect(await annotations()).not.toHaveProperty("tenure.dev/paused");
  expect(errors).toEqual([]);
});

it("an identity and annotations with markup stay text, and a button is there for who may use it", async () => {
  const { page } = await openUi(browser, await uiAs(cluster.kubeconfig));
  await page.getByRole("button", { name: /^default\/guarded/ }).click();
  await page.getByRole("button", { name: "Step down" }).click();
  expect(await page.locator(".dialog h2").textContent()).toBe(`Make ${evil} step down?`);
  expect(await page.locator("img").count()).toBe(0);
  expect(await page.evaluate(() => (globalThis as { hacked?: number }).hacked)).toBeUndefined();
});

it("the address works once; a second page gets nothing", async () => {
  const ui = await uiAs(cluster.kubeconfig);
  const first = await openUi(browser, ui);
  const paintMs = await first.page.evaluate(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
  );
  console.log(`first paint after ${Math.round(paintMs)} ms`);
  await first.page.reload();
  await first.page.locator(".connection.up").waitFor();
  const { page } = await newPage(browser);
  await page.goto(ui.url);
  await expect.poll(() => page.locator("#scope").textContent()).toContain("This address has been used");
  expect(await page.locator(".election").count()).toBe(0);
});

/** The status of a request with these headers. */
function statusOf(
  ui: Ui,
  path: string,
  headers: Record<string, string>,
  method = "GET",
  body = "",
): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${ui.origin}${path}`, { method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on("error", reject).end(body);
  });
}

it("a page of another origin can do nothing: no request, no frame, no name", async () => {
  const ui = await uiAs(cluster.kubeconfig);
  const { page: own } = await openUi(browser, ui);
  const session = await own.evaluate(() => sessionStorage.getItem("tenure-session"));
  const attacker = createServer((_, response) => {
    response.setHeader("content-type", "text/html").end("<iframe></iframe>");
  });
  await new Promise<void>((resolve) => attacker.listen(0, "127.0.0.1", resolve));
  const { port } = attacker.address() as AddressInfo;
  try {
    const { page } = await newPage(browser);
    await page.goto(`http://localhost:${port}/`);
    const outcomes = await page.evaluate(
      async ([origin, stolen]) => {
        const order = JSON.stringify({ order: "pause", election: "default/guarded" });
        const attempts: [string, RequestInit][] = [
          ["/orders", { method: "POST", body: order, mode: "no-cors", credentials: "include" }],
          [
            "/orders",
            {
              method: "POST",
              body: order,
              headers: { "content-type": "application/json" },
              credentials: "include",
            },
          ],
          // Even with a stolen session.
          [
            "/orders",
            {
              method: "POST",
              body: order,
              headers: { "content-type": "application/json", authorization: `Bearer ${stolen}` },
            },
          ],
          ["/events", { headers: { authorization: `Bearer ${stolen}` } }],
          ["/session", { method: "POST", body: "{}", mode: "no-cors" }],
        ];
        const texts: string[] = [];
        for (const [path, init] of attempts) {
          texts.push(
            await fetch(`${origin}${path}`, init).then(
              (response) => `${response.type} ${response.status}`,
              () => "blocked",
            ),
          );
        }
        const frame = document.querySelector("iframe") as HTMLIFrameElement;
        frame.src = `${origin}/`;
        await new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
        return texts;
      },
      [ui.origin, session] as const,
    );
    // An opaque answer has no content. It was refused by the server all the same, as the requests below show.
    expect(outcomes.map((text) => text.replace(/^opaque 0$/, "blocked"))).toEqual(Array(5).fill("blocked"));
    const framed = page.frames().find((frame) => frame !== page.mainFrame());
    expect(framed?.url()).not.toContain(ui.origin);
    expect(await annotations()).not.toHaveProperty("tenure.dev/paused");
  } finally {
    attacker.close();
  }
  const authorization = `Bearer ${session}`;
  expect(await statusOf(ui, "/events", {})).toBe(401);
  expect(await statusOf(ui, "/rights?election=default/guarded", { authorization })).toBe(200);
  expect(await statusOf(ui, "/", { host: "evil.example" })).toBe(403);
  expect(await statusOf(ui, "/events", { authorization, host: "evil.example" })).toBe(403);
  expect(
    await statusOf(
      ui,
      "/orders",
      { authorization, origin: "http://evil.example", "content-type": "application/json" },
      "POST",
      "{}",
    ),
  ).toBe(403);
  expect(
    await statusOf(
      ui,
      "/orders",
      { authorization, "content-type": "text/plain" },
      "POST",
      '{"order":"pause","election":"default/guarded"}',
    ),
  ).toBe(400);
  expect(await annotations()).not.toHaveProperty("tenure.dev/paused");
});
