/** Links of all Markdown files: the file is there, the heading is there, and the index leads to every page. */
import { existsSync, statSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { anchorsIn, linksIn, slugOf, withExistingAnchors } from "../../../scripts/docs/markdown.mjs";
import { sidebar, sitePages } from "../../../scripts/docs/pages.mjs";
import { filesMatching, root } from "../sources.ts";

const pages = new Map(filesMatching(/\.md$/).map(({ path, text }) => [path, text]));

const targetOf = (page: string, target: string) =>
  target === "" ? page : posix.join(dirname(page), target).replace(/\/$/, "");

const links = [...pages].flatMap(([page, text]) =>
  linksIn(text).map(({ target, anchor }) => ({ page, link: targetOf(page, target), anchor })),
);

describe("links", () => {
  it("have a file or a folder as their target", () => {
    expect(links.length).toBeGreaterThan(200);
    expect(links.filter(({ link }) => !existsSync(join(root, link)))).toEqual([]);
  });

  it("name a heading that is there", () => {
    const withAnchor = links.filter(({ anchor }) => anchor !== "");
    expect(withAnchor.length).toBeGreaterThan(15);
    expect(
      withAnchor.filter(({ link, anchor }) => !anchorsIn(pages.get(link) ?? "").includes(anchor)),
    ).toEqual([]);
  });

  it("lead from the index to every page of docs", () => {
    const reached = new Set<string>();
    const waiting = ["docs/README.md"];
    for (let page = waiting.pop(); page !== undefined; page = waiting.pop()) {
      if (reached.has(page)) continue;
      reached.add(page);
      for (const { link } of links.filter((each) => each.page === page)) {
        // A forge and the site list the files of a folder.
        const inFolder = [...pages.keys()].filter((each) => dirname(each) === link);
        waiting.push(...(statSync(join(root, link)).isDirectory() ? inFolder : [link]));
      }
    }
    const documents = [...pages.keys()].filter((page) => page.startsWith("docs/"));
    expect(documents.filter((page) => !reached.has(page))).toEqual([]);
  });
});

describe("the reader of Markdown", () => {
  it("finds links, also to headings and to pictures, and none in code", () => {
    const text =
      "[a](b.md#c) ![d](e.png) [f](#g) `[h](i)` [j](https://k.example)\n\n```sh\n[l](m)\n```\n\n    [n](o)\n";
    expect(linksIn(text).map(({ target, anchor }) => [target, anchor])).toEqual([
      ["b.md", "c"],
      ["e.png", ""],
      ["", "g"],
    ]);
  });

  it("makes the anchors of a forge", () => {
    expect(slugOf("Don't use `a.b`, or (c)!")).toBe("dont-use-ab-or-c");
    expect(anchorsIn("# A b\n```sh\n# no heading\n```\n## [A b](c.md)\n")).toEqual(["a-b", "a-b-1"]);
  });

  it("takes a wrong number from an anchor, and leaves a right one", () => {
    expect(withExistingAnchors("# A\n# B\n# B\n[x](#a-1) [y](#b-1)")).toBe(
      "# A\n# B\n# B\n[x](#a) [y](#b-1)",
    );
  });
});

describe("the site", () => {
  let places: ReturnType<typeof sitePages>;
  beforeAll(() => {
    places = sitePages();
  });

  it("has every page of docs once, and all that they link to", () => {
    const documents = [...pages.keys()].filter((page) => page.startsWith("docs/"));
    expect(documents.filter((page) => !places.some(({ path }) => path === page))).toEqual([]);
    expect(new Set(places.map(({ place }) => place)).size).toBe(places.length);
    const known = new Set(places.map(({ place }) => place));
    const broken = places.flatMap(({ place, text = "" }) =>
      linksIn(text)
        .filter(({ target }) => target !== "" && !known.has(posix.join(dirname(place), target)))
        .map(({ target }) => `${place}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it("lists pages in the order of the index", () => {
    const groups = sidebar();
    expect(groups.map(({ text }) => text)).toEqual(["Start", "Tasks", "Concepts", "Reference", "Packages"]);
    expect(groups[0]?.items[0]).toEqual({ text: "What it is, and why", link: "/" });
    const known = places.map(({ place }) => `/${place.replace(/(^|\/)index\.md$|\.md$/, "$1")}`);
    const items = groups.flatMap((group) => group.items.map(({ link }) => link));
    expect(items.filter((link) => !known.includes(link))).toEqual([]);
  });
});
