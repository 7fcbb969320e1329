/** A real browser: Chromium of the system, driven by playwright-core, which downloads none. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export async function startBrowser(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? places.find((path) => existsSync(path));
  if (executablePath === undefined)
    throw new Error("Chromium is not installed: apt-get install chromium, or set CHROMIUM to its path");
  // In a container, root has no user namespace for the sandbox of the browser. The pages of these tests are our own.
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
}

/** Where pictures are kept, to be looked at. */
export const pictures = process.env.TENURE_PICTURES ?? join(tmpdir(), "tenure-ui-pictures");
mkdirSync(pictures, { recursive: true });

export async function picture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(pictures, `${name}.png`) });
}

/** A page that reports errors of its scripts instead of hiding them. */
export async function newPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; errors: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  return { page, errors };
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds that keeps people from using the page. */
export async function seriousProblems(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate(() => {
    const { axe: checker } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
    };
    return checker.run().then(({ violations }) => violations);
  });
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
}

/** The history of the selected election, newest first, without its times. */
export async function historyRows(page: Page): Promise<string[]> {
  return page.locator(".history tbody tr").evaluateAll((rows) =>
    rows.map((row) =>
      [...row.querySelectorAll("td")]
        .slice(1)
        .map(({ textContent }) => textContent)
        .join(" | "),
    ),
  );
}

/** "15.2 s" or "≤ 41 ms" in milliseconds. */
export function lengthMs(text: string): number {
  const [, value = "", unit = ""] = /([\d.]+) (ms|s)\b/.exec(text) ?? [];
  return Number(value) * (unit === "s" ? 1_000 : 1);
}
