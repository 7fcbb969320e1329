/** A kill, a freeze, a transfer and a pause of real replicas, as a page shows them. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { endAll as endCommands, TestCluster } from "../processes/operate/commands.ts";
import { checkRunBuild, endAll } from "../processes/run/replicas.ts";
import { historyRows, lengthMs, picture, startBrowser } from "./browser.ts";
import { type Member, openUi, startMembers, startUi } from "./session.ts";

let browser: Browser;
let cluster: TestCluster;
beforeAll(async () => {
  checkRunBuild();
  browser = await startBrowser();
  cluster = await TestCluster.start();
});
afterAll(async () => {
  endAll();
  endCommands();
  await browser?.close();
  await cluster?.close();
});

/** How far a length on the page may be from one that the test measured from outside, on a busy machine. */
const nearMs = 1_500;

it("shows what happens, with its reason and its length", async () => {
  const members = await startMembers(cluster.kubeconfig, "web", ["a", "b", "c"]);
  const of = (id: string) => members.find((member) => member.id === id) as Member;
  const ui = await startUi([
    "web",
    ...["-n", "default", "--kubeconfig", cluster.kubeconfig],
    ...["--replica", ...members.map(({ url }) => url)],
  ]);
  const { page, errors } = await openUi(browser, ui);
  await page.getByRole("button", { name: /^default\/web/ }).click();
  const leader = async () =>
    / ?(\w+) leads for/.exec((await page.locator("#details > p").first().textContent()) ?? "")?.[1];
  const newest = async (reason: RegExp) => (await historyRows(page)).find((row) => reason.test(row)) ?? "";
  await expect.poll(leader).toBe("a");
  // All three report; a standby says why it does not lead.
  await expect.poll(() => page.locator(".candidates").textContent()).toMatch(/b ?waits .* unless a renews/);

  // The token is known from the report of the leader, not from its record.
  await expect.poll(() => newest(/\| a \|/)).toMatch(/\| a \| leads, token \d+$/);

  const killedMs = Date.now();
  of("a").process.kill("SIGKILL");
  await expect.poll(leader).toMatch(/^[bc]$/);
  const second = (await leader()) as string;
  const led = await of(second).process.logged("phase", { phase: "pre-leader" });
  await expect.poll(() => newest(/nobody/)).toMatch(/^[\d.]+ m?s \| nobody \| crash$/);
  expect(Math.abs(lengthMs(await newest(/crash/)) - (Date.parse(led.time) - killedMs))).toBeLessThan(nearMs);
  expect(await newest(/\| a \|/)).toMatch(/\| a \| lease expired, token \d+$/);

  const third = second === "b" ? "c" : "b";
  const frozenMs = Date.now();
  of(second).process.kill("SIGSTOP");
  await expect.poll(leader).toBe(third);
  const resumedBy = await of(third).process.logged("phase", { phase: "pre-leader" });
  await expect.poll(() => newest(/nobody/)).toMatch(/^≤ [\d.]+ m?s \| nobody \| frozen$/);
  // The last sign of life was up to one renewal before the freeze.
  const outsideMs = Date.parse(resumedBy.time) - frozenMs;
  expect(lengthMs(await newest(/frozen/))).toBeGreaterThan(outsideMs - nearMs);
  expect(lengthMs(await newest(/frozen/))).toBeLessThan(outsideMs + nearMs + 1_000);
  of(second).process.kill("SIGCONT");
  await expect.poll(() => page.locator(".candidates").textContent()).toContain(`${second}waits`);

  await page.getByRole("button", { name: `Transfer to ${second}` }).click();
  expect(await page.locator(".dialog").textContent()).toContain(`only ${second} may take it`);
  await page.getByRole("button", { name: "Transfer", exact: true }).click();
  await expect
    .poll(() => page.locator(".outcome").textContent())
    .toBe(`${second} leads now; ${third} handed over.`);
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await expect.poll(leader).toBe(second);
  await expect
    .poll(() => newest(/nobody/))
    .toMatch(new RegExp(`^[\\d.]+ m?s \\| nobody \\| transfer to ${second}$`));

  await page.getByRole("button", { name: "Pause…" }).click();
  await page.getByRole("textbox", { name: /Reason/ }).fill("upgrade <b>now</b>");
  const pausedMs = Date.now();
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await expect.poll(() => page.locator(".outcome").textContent()).toMatch(/is paused, and nobody leads/);
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await expect.poll(() => page.locator(".candidates").textContent()).toContain(": upgrade <b>now</b>");
  await picture(page, "live-paused");
  await page.getByRole("button", { name: "Resume" }).click();
  await page.locator(".dialog").getByRole("button", { name: "Resume" }).click();
  await expect.poll(() => page.locator(".outcome").textContent()).toMatch(/is resumed, and [abc] leads/);
  const resumedMs = Date.now();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await expect.poll(() => newest(/nobody/)).toMatch(/ \| nobody \| paused by .+: upgrade <b>now<\/b>$/);
  expect(Math.abs(lengthMs(await newest(/paused/)) - (resumedMs - pausedMs))).toBeLessThan(nearMs);

  expect(await page.locator("#details > p").nth(1).textContent()).toMatch(
    /^0 overlaps in \d+ terms?, by the work that replicas reported/,
  );
  await picture(page, "live");
  expect(errors).toEqual([]);
  ui.command.kill("SIGTERM");
  expect((await ui.command.ran).code).toBe(0);
  await expect.poll(() => page.locator(".connection").textContent()).toContain("lost");
});
