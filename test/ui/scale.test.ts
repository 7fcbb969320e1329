/** 100 elections with 1,000 terms each: scrolling stays smooth, and the memory small. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Timeline, writePage } from "@tenure/ui";
import type { Browser, CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newPage, picture, startBrowser } from "./browser.ts";

let browser: Browser;
let folder: string;
beforeAll(async () => {
  browser = await startBrowser();
  folder = await mkdtemp(join(tmpdir(), "tenure-scale-"));
});
afterAll(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

function largeTimeline(): Timeline {
  const timeline = new Timeline();
  const startMs = Date.UTC(2030, 0, 1);
  for (let number = 0; number < 100; number++) {
    const election = `team-${number % 10}/service-${number}`;
    for (let term = 0; term < 1_000; term++) {
      const fromMs = startMs + term * 60_000 + number * 777;
      const holder = `service-${number}-${(term * 7 + number) % 3}`;
      const base = { election, transitions: term, leaseMs: 15_000 } as const;
      timeline.observe({
        kind: "lock",
        atMs: fromMs,
        holder,
        acquired: `${term}`,
        token: String(term * 31 + 7),
        ...base,
      });
      const report = {
        kind: "replica",
        election,
        id: holder,
        phase: "leader",
        healthy: true,
        message: "",
      } as const;
      timeline.observe({ ...report, atMs: fromMs + 5, works: true });
      for (let renewal = 1; renewal < 5; renewal++)
        timeline.observe({ kind: "renewed", atMs: fromMs + renewal * 9_000, election });
      // Every tenth term is lost.
      if (term % 10 !== 3) {
        timeline.observe({ ...report, atMs: fromMs + 44_000, works: false, phase: "follower" });
        timeline.observe({ kind: "lock", atMs: fromMs + 44_001, holder: "", ...base });
      }
    }
  }
  return timeline;
}

/** The CPU time of the page's main thread so far. Unlike the time of day, it does not grow while other processes run. */
async function taskMs(cdp: CDPSession): Promise<number> {
  const { metrics } = await cdp.send("Performance.getMetrics");
  return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1_000;
}

/** The page has drawn: it does so in the next frame, or in the one after it if that has begun. */
const drawn = (page: Page) =>
  page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));

it("scrolls without a task longer than 50 ms, below 150 MB", async () => {
  const path = join(folder, "large.html");
  await writePage(path, largeTimeline(), "100 elections");
  const { page, errors } = await newPage(browser);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.goto(pathToFileURL(path).href);
  await page.locator(".election").first().waitFor();
  expect(await page.locator(".verdict").textContent()).toContain("100000 terms of 100 elections");
  const longest: number[] = [];
  for (let step = 0; step < 60; step++) {
    const beforeMs = await taskMs(cdp);
    await page.evaluate((top) => {
      const scroller = document.getElementById("elections");
      if (scroller) scroller.scrollTop = top;
    }, step * 290);
    await drawn(page);
    longest.push((await taskMs(cdp)) - beforeMs);
  }
  for (const key of ["+", "+", "+", "ArrowLeft", "ArrowLeft", "-", "-", "-", "-"]) {
    const beforeMs = await taskMs(cdp);
    await page.keyboard.press(key);
    await drawn(page);
    longest.push((await taskMs(cdp)) - beforeMs);
  }
  await picture(page, "large");
  await cdp.send("HeapProfiler.collectGarbage");
  const { metrics } = await cdp.send("Performance.getMetrics");
  const heapBytes = metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? 0;
  console.log(
    `longest step ${Math.max(...longest).toFixed(1)} ms of CPU, heap ${(heapBytes / 1e6).toFixed(0)} MB, ` +
      `${await page.locator(".election").count()} elections in the document`,
  );
  expect(await page.locator(".election").count()).toBeLessThan(30);
  expect(Math.max(...longest)).toBeLessThan(50);
  expect(heapBytes).toBeLessThan(150e6);
  expect(errors).toEqual([]);
});
