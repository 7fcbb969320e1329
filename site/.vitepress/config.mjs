// @ts-check
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { slugOf } from "../../scripts/docs/markdown.mjs";
import { sidebar } from "../../scripts/docs/pages.mjs";

const api = fileURLToPath(new URL("../pages/api/", import.meta.url));

/** A page for each package that users import. TypeDoc has written them before. */
const apiPages = readdirSync(api, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".md") && file !== "index.md")
  .map((file) => file.replace(/\.md$/, ""))
  .sort()
  .map((name) => ({ text: name, link: `/api/${name}` }));

/** In the page itself, so that a browser does not ask for a file that is not there. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect y="2" width="9" height="5" rx="1" fill="#1f883d"/><rect x="7" y="9" width="9" height="5" rx="1" fill="#1f883d"/></svg>`;

export default defineConfig({
  title: "tenure",
  description: "Kubernetes leader election for TypeScript and Node, and for any program that you can start.",
  head: [["link", { rel: "icon", href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]],
  srcDir: "pages",
  // Pages name addresses of programs that the reader starts.
  ignoreDeadLinks: "localhostLinks",
  // Text between angle brackets is text, as on a forge. The pages have no HTML.
  markdown: { html: false, anchor: { slugify: slugOf } },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Start", link: "/start" },
      { text: "Choose", link: "/choose" },
      { text: "FAQ", link: "/faq" },
      { text: "API", link: "/api/" },
    ],
    sidebar: [...sidebar(), { text: "API from the types", collapsed: false, items: apiPages }],
  },
});
