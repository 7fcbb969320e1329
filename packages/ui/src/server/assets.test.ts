import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { loadAssets } from "./assets.ts";

/** What somebody waits for on a slow connection. */
const mostBytes = 100 * 1024;

it("the whole page is small", async () => {
  const { html, css, script } = await loadAssets();
  expect(gzipSync(html + css + script).length).toBeLessThan(mostBytes);
});

it("the page has no script and no style of its own, so that the policy need not allow any", async () => {
  const { html } = await loadAssets();
  expect(html).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=|\sstyle=/);
});
