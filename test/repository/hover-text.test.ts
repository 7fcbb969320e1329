/** An editor shows the comment above a declaration. Everything that a user of the library can name has one. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./sources.ts";

/** The files that the index of a package exports names from, with those names. */
function exportsOf(index: string): [file: string, names: string[]][] {
  const text = readFileSync(join(root, index), "utf8");
  return [...text.matchAll(/export (?:type )?\{([^}]*)\} from "\.\/([^"]+)"/g)].map(
    ([, names = "", file = ""]) => [
      join(dirname(index), file),
      names.split(",").flatMap((name) => name.replace(/^\s*type /, "").trim() || []),
    ],
  );
}

/** The declarations of these names, and the members of the classes and interfaces, that have no comment above them. */
function undocumented(file: string, names: readonly string[]): string[] {
  const lines = readFileSync(join(root, file), "utf8").split("\n");
  const found: string[] = [];
  let inside: string | undefined;
  let isOverloaded = "";
  for (const [index, line] of lines.entries()) {
    const isDocumented = /\*\/$/.test(lines[index - 1] ?? "");
    const [, , name = ""] = /^export (class|interface|type|const|function) (\w+)/.exec(line) ?? [];
    if (names.includes(name)) {
      if (!isDocumented) found.push(`${file}: ${name}`);
      // An editor takes the comments of a method from the interface that its class implements.
      const hasOwnMembers = /^export (?:class|interface)/.test(line) && !/ implements |\}$/.test(line);
      inside = hasOwnMembers ? name : undefined;
    } else if (/^[}\w]/.test(line)) inside = undefined;
    const [, member] = /^ {2}(?:readonly |async |get )*("?[\w-]+"?|\[[\w.]+\])\??[<(:]/.exec(line) ?? [];
    if (!inside || !member || /^ {2}#/.test(line)) continue;
    // The first overload has the comment. A constructor without one shows that of its class.
    if (!isDocumented && member !== isOverloaded && member !== "constructor")
      found.push(`${file}: ${inside}.${member}`);
    isOverloaded = member;
  }
  return found;
}

describe("hover text", () => {
  it.each(["election", "etcd"])("is there for everything in @tenure/%s", (name) => {
    const missing = exportsOf(`packages/${name}/src/index.ts`).flatMap(([file, names]) =>
      undocumented(file, names),
    );
    expect(missing).toEqual([]);
  });

  it("names the default of every optional setting of an election and its locks", () => {
    const files = ["options.ts", "locks/object-lock.ts"].map((file) =>
      join(root, "packages/election/src", file),
    );
    const text = files.map((file) => readFileSync(file, "utf8")).join("\n");
    const settings = [...text.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n {2}readonly (\w+)\?:/g)];
    expect(settings.length).toBeGreaterThan(15);
    expect(
      settings.filter(([, comment]) => !comment?.includes("@default")).map(([, , name]) => name),
    ).toEqual([]);
  });
});
