/** What `tenure doctor` finds about the selected election. */
import type { Finding } from "../server/server.ts";
import { element } from "./dom.ts";
import { ask } from "./stream.ts";

const marks: Readonly<Record<string, string>> = { finding: "✗", hint: "!", skipped: "–", ok: "✓" };

export class FindingsView {
  readonly root = element("div");
  #key: string | undefined;

  /** @param key undefined if nobody can be asked */
  open(key: string | undefined): void {
    this.#key = key;
    if (key === undefined) {
      this.root.replaceChildren();
      return;
    }
    this.#show(element("p", {}, "Checking…"));
    ask<readonly Finding[]>(`findings?election=${encodeURIComponent(key)}`).then(
      (findings) => {
        if (this.#key === key) this.#list(findings);
      },
      (error: unknown) => {
        if (this.#key === key)
          this.#show(element("p", {}, error instanceof Error ? error.message : String(error)));
      },
    );
  }

  #list(findings: readonly Finding[]): void {
    const worth = findings.filter(({ verdict }) => verdict === "finding" || verdict === "hint");
    const others = findings.length - worth.length;
    const items = worth.map(({ verdict, check, what, fix }) =>
      element(
        "li",
        { class: verdict },
        element("span", { class: "mark", "aria-label": verdict }, marks[verdict] ?? ""),
        `${check}: ${what}`,
        fix !== undefined && element("pre", {}, fix),
      ),
    );
    this.#show(
      element("ul", { class: "findings" }, ...items),
      element(
        "p",
        {},
        worth.length === 0
          ? `No problems found in ${findings.length} checks.`
          : `${others} other checks found nothing.`,
      ),
    );
  }

  #show(...content: HTMLElement[]): void {
    this.root.replaceChildren(element("h3", {}, "Doctor"), ...content);
  }
}
