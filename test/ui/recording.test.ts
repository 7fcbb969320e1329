/** A recording in one file: what it shows, how it is used, how it looks. */
import { copyFile, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { headerLine, type Observation, observationLine } from "@tenure/ui";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { start } from "../processes/operate/commands.ts";
import { historyRows, newPage, picture, pictures, seriousProblems, startBrowser } from "./browser.ts";
import { exampleObservations } from "./example.ts";

let browser: Browser;
let folder: string;
beforeAll(async () => {
  browser = await startBrowser();
  folder = await mkdtemp(join(tmpdir(), "tenure-ui-"));
});
afterAll(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Writes a recording, and the page of it with the command. */
async function pageOf(name: string, observations: readonly Observation[]): Promise<string> {
  const [recording, html] = [join(folder, `${name}.ndjson`), join(folder, `${name}.html`)];
  await writeFile(
    recording,
    headerLine(observations[0]?.atMs ?? 0, "a test") + observations.map(observationLine).join(""),
  );
  const { code, out, err } = await start(["ui", "--open", recording, "--html", html]).ran;
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toBe(`Wrote ${html}. Open it in a browser.\n`);
  return pathToFileURL(html).href;
}

const names = (page: Page) => page.locator(".election .head strong").allTextContents();

it("shows terms, gaps, reasons, candidates and the verdict, without a server", async () => {
  const { page, errors } = await newPage(browser, { timezoneId: "UTC" });
  await page.goto(await pageOf("example", exampleObservations()));
  await page.locator(".verdict").filter({ hasText: "in" }).waitFor();
  expect(await page.locator(".verdict").textContent()).toBe(
    "0 overlaps in 9 terms of 4 elections, work was reported in 8 of them",
  );
  await page.getByRole("button", { name: /^prod\/billing/ }).click();
  await expect
    .poll(() => historyRows(page))
    .toEqual([
      "1 min 25 s | billing-7d9f5-kq2xz | leads, token 48168",
      "60 ms | nobody | transfer to billing-7d9f5-kq2xz",
      "59.9 s | billing-7d9f5-xw8rl | handed over, token 48151",
      "14.1 s | nobody | crash",
      "1 min 30 s | billing-7d9f5-m4tzp | lease expired, token 48134",
      "41 ms | nobody | handover",
      "1 min 1 s | billing-7d9f5-kq2xz | handed over, token 48117",
    ]);
  await picture(page, "details-light");
  await page.getByRole("button", { name: /^prod\/orders/ }).click();
  await expect
    .poll(async () => (await historyRows(page)).filter((row) => row.includes("nobody")))
    .toEqual(["≤ 17.1 s | nobody | frozen", "1 min | nobody | paused by alice: database upgrade"]);
  await page.getByRole("button", { name: /^prod\/reports/ }).click();
  await expect
    .poll(() => page.locator(".candidates").textContent())
    .toContain("paused by bob: month-end close");
  expect(await page.locator(".actions").textContent()).toBe("");
  await page.getByRole("button", { name: /^prod\/ingest.shards/ }).click();
  await expect.poll(() => page.locator(".shares").first().textContent()).toContain("14: worker-2");
  expect(errors).toEqual([]);
});

it("makes the picture of the README, which is written with REWRITE=1", async () => {
  const { page } = await newPage(browser, {
    timezoneId: "UTC",
    viewport: { width: 1100, height: 690 },
    deviceScaleFactor: 1.5,
  });
  await page.goto(await pageOf("readme", exampleObservations()));
  await page.getByRole("searchbox").fill("prod/");
  await expect.poll(() => page.locator(".election").count()).toBe(4);
  await page.locator(".election").filter({ hasText: "prod/ingest.shards" }).waitFor();
  await page.getByRole("searchbox").blur();
  await picture(page, "readme");
  const target = fileURLToPath(new URL("../../docs/pictures/ui.png", import.meta.url));
  if (process.env.REWRITE === "1") await copyFile(join(pictures, "readme.png"), target);
  expect((await stat(target)).size).toBeGreaterThan(10_000);
});

it("is used with the keyboard alone", async () => {
  const { page, errors } = await newPage(browser);
  await page.goto(await pageOf("keys", exampleObservations()));
  await page.locator(".election").first().waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await expect.poll(() => page.locator("#details h2").textContent()).toBe("prod/billing");
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toContain("prod/billing");
  const shownBefore = await page.locator("#axis").screenshot();
  await page.keyboard.press("+");
  await page.keyboard.press("ArrowLeft");
  await expect.poll(async () => shownBefore.equals(await page.locator("#axis").screenshot())).toBe(false);
  await page.keyboard.press("f");
  await expect.poll(async () => shownBefore.equals(await page.locator("#axis").screenshot())).toBe(true);
  await page.keyboard.press("Escape");
  await expect.poll(() => page.locator("#details").isHidden()).toBe(true);
  expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("prod/billing");
  await page.keyboard.press("/");
  await page.keyboard.type("sched");
  await expect.poll(() => names(page)).toEqual(["kube-system/kube-scheduler"]);
  expect(errors).toEqual([]);
});

it("says what is under the pointer", async () => {
  const { page } = await newPage(browser, { timezoneId: "UTC" });
  await page.goto(await pageOf("pointer", exampleObservations()));
  await page.locator(".election").nth(1).waitFor();
  const block = await page.locator(".election").filter({ hasText: "prod/billing" }).boundingBox();
  if (!block) throw new Error("no election");
  // The picture is 1280 px wide; names take 300, and five minutes with their margins the rest.
  const x = 300 + ((100 + 6) / 330) * (block.width - 300);
  await page.mouse.move(x, block.y + 34 + 20 + 26 + 12);
  await expect
    .poll(() => page.locator(".tip").textContent())
    .toContain("billing-7d9f5-m4tzp, token 48134, 1 min 30 s");
});

it.each([
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["phone", { viewport: { width: 390, height: 800 }, deviceScaleFactor: 2, hasTouch: true }],
  ["phone-dark", { viewport: { width: 390, height: 800 }, deviceScaleFactor: 2, colorScheme: "dark" }],
] as const)("has no serious obstacle for anybody: %s", async (name, options) => {
  const { page } = await newPage(browser, options as object);
  await page.goto(await pageOf(`look-${name}`, exampleObservations()));
  await page.locator(".election").first().waitFor();
  await picture(page, name);
  expect(await seriousProblems(page)).toEqual([]);
  await page.getByRole("button", { name: "Legend" }).click();
  await page.getByRole("button", { name: /^prod\/billing/ }).click();
  await page.locator("#details").waitFor();
  await picture(page, `${name}-details`);
  expect(await seriousProblems(page)).toEqual([]);
  // Nothing is wider than the screen.
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow).toBe(0);
});

it("a name with markup stays text", async () => {
  const evil = '"><img src=x onerror="window.hacked=1">';
  const observations = exampleObservations().map((seen) =>
    "election" in seen && seen.election === "prod/billing" ? { ...seen, election: `prod/${evil}` } : seen,
  );
  const { page } = await newPage(browser);
  await page.goto(
    await pageOf("markup", [
      ...observations,
      {
        kind: "lock",
        atMs: observations.at(-1)?.atMs ?? 0,
        election: `prod/${evil}`,
        holder: evil,
        transitions: 99,
        leaseMs: 1_000,
      },
    ]),
  );
  await page.getByRole("button", { name: /img src=x/ }).click();
  await page.locator("#details h2").waitFor();
  expect(await page.locator("#details h2").textContent()).toBe(`prod/${evil}`);
  expect(await page.locator("img").count()).toBe(0);
  expect(await page.evaluate(() => (globalThis as { hacked?: number }).hacked)).toBeUndefined();
});
