import { expect, it } from "vitest";
import { Timeline } from "../model/timeline.ts";
import { hashSource } from "./assets.ts";
import { singlePage } from "./single-page.ts";

const assets = {
  html: '<html><!-- policy --><link rel="stylesheet" href="page.css"><script type="module" src="page.js"></script></html>',
  css: "a{}",
  script: 'x("</script><!--$&")',
};

it("contains everything; a name with markup cannot leave its element", () => {
  const timeline = new Timeline();
  const election = "ns/</script><img src=x onerror=alert(1)>";
  timeline.observe({ kind: "lock", atMs: 1, election, holder: "a", transitions: 0, leaseMs: 1 });
  const html = singlePage(assets, timeline, "t");
  expect(html).not.toContain("<img");
  expect(html).toContain("<style>a{}</style>");
  const recorded = [...html.matchAll(/class="recorded">(.*?)<\/script>/g)].map(([, json]) =>
    JSON.parse(json as string),
  );
  expect(recorded[1]).toMatchObject({ key: election });
  const [, code = ""] = /<script type="module">([\s\S]*)<\/script>/.exec(html) ?? [];
  expect(code).toBe('x("<\\/script><\\!--$&")');
  expect(html).toContain(`script-src ${hashSource(code)};`);
});
