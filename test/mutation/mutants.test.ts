/** Which mistakes are planted, and that a file with all of them still means the same while none is active. */
import { transformSync } from "rolldown/utils";
import { describe, expect, it } from "vitest";
import { findMutants, instrument } from "./mutants.mjs";

const mutated = (code: string) =>
  findMutants("x.ts", code).map(({ original, mutated }) => `${original} → ${mutated}`);

describe("findMutants", () => {
  it.each<[string, string, string[]]>([
    ["a comparison", "f(a < b);", ["a < b → a <= b", "a < b → a >= b"]],
    ["an equality", "f(a === b);", ["a === b → a !== b"]],
    ["arithmetic", "f(a + b * c);", ["a + b * c → a - b * c", "b * c → b / c"]],
    ["no joined strings", 'f(a + "/b c");', []],
    ["logic", "f(a && b);", ["a && b → (a) || (b)", "a && b → a", "a && b → b"]],
    ["a default", "f(a ?? b);", ["a ?? b → a", "a ?? b → b"]],
    ["a negation", "f(!a);", ["!a → a"]],
    ["a boolean", "f(true);", ["true → false"]],
    ["a small number", "f(1);", ["1 → 2", "1 → 0"]],
    ["zero", "f(0);", ["0 → 1"]],
    ["a large number", "f(1_000);", ["1_000 → 2000", "1_000 → 500"]],
    ["a calculation of numbers as one number", "f(2 * 1024);", ["2 * 1024 → 4096", "2 * 1024 → 1024"]],
    ["a string", 'f("a");', ['"a" → ""']],
    ["an empty string", 'f("");', ['"" → "mutated"']],
    ["no text for people", `f("it failed", \`it \${a} failed\`);`, []],
    ["a condition", "f(a ? b : c);", ["a → true", "a → false"]],
    ["a loop", "while (a) f();", ["a → false", "f(); → (removed)"]],
    ["an optional chain", "f(a?.b?.());", ["a?.b?.() → a?.b()", "a?.b?.() → a.b?.()"]],
    ["minimum and maximum", "f(Math.min(a, b));", ["Math.min(a, b) → Math.max(a, b)"]],
    ["methods", "f(a.some(b), c.filter(d));", ["a.some(b) → a.every(b)", "c.filter(d) → c"]],
    ["properties", "f({ a: b, c });", ["a: b → (removed)", "c → (removed)"]],
    ["no property that is undefined", "f({ a: undefined });", []],
    ["items", "f([a, ...b]);", ["a → (removed)", "b → []"]],
    [
      "optional properties",
      "f({ ...(a && { a }) });",
      ["(a && { a }) → {}", "a && { a } → a", "a → (removed)"],
    ],
    ["an optional result", "(): A | undefined => { return a; };", ["a → undefined"]],
    ["no type", 'type A = "a" | 1; let a: A;', []],
    ["no last break", "switch (a) { case b: f(); break; }", ["f(); → (removed)"]],
    [
      "any other break",
      "switch (a) { case b: break; case c: f(); }",
      ["break; → (removed)", "f(); → (removed)"],
    ],
    ["no last return", "() => { if (a) return; };", ["a → true", "a → false"]],
  ])("plants mistakes into %s", (_what, code, expected) => {
    const found = mutated(code).filter((text) => !text.startsWith(`${code} →`));
    expect(found).toEqual(expected);
  });

  it("knows the line, and code that runs only when the module is loaded", () => {
    const found = findMutants("x.ts", "const a = 5;\nconst f = () => 7;");
    expect(found).toMatchObject([
      { line: 1, runsOnce: true },
      { line: 1, runsOnce: true },
      { line: 2, runsOnce: false },
      { line: 2, runsOnce: false },
    ]);
  });
});

describe("instrument", () => {
  const source = `
    const limit: number = 3;
    export function f(list: readonly number[], o?: { a?: { b(): number } }) {
      const out: object[] = [];
      for (let i = 0; i < list.length; i++) {
        if (list[i] === 2 && limit > 1) continue;
        else out.push({ i, v: (list[i] ?? 0) * 2, ...(o && { o: o.a?.b() }) });
      }
      switch (out.length) {
        case 0: return "none";
        default: return [...out, Math.max(limit, 1)];
      }
    }`;
  function load(code: string, active: number) {
    const { code: plain, errors } = transformSync("x.ts", code);
    expect(errors).toEqual([]);
    const asked = new Set<number>();
    let calls = 0;
    const isActive = (id: number) => {
      if (++calls > 10_000) throw new Error("it loops");
      return asked.add(id) && id === active;
    };
    const body = plain.replace("export ", "").replaceAll("globalThis.__mutant", "isActive");
    return { f: new Function("isActive", `${body}; return f;`)(isActive), asked };
  }
  const results = (f: (...args: unknown[]) => unknown) =>
    JSON.stringify([f([1, 2, 3], { a: { b: () => 7 } }), f([]), f([2]), f([4, undefined], {})]);
  const code = instrument("x.ts", source, (index: number) => index);

  it("changes nothing while no mutant is active", () => {
    expect(results(load(code, -1).f)).toBe(results(load(source, -1).f));
  });

  it("asks for every mutant that runs, and each one can be activated", () => {
    const all = findMutants("x.ts", source);
    const { f, asked } = load(code, -1);
    results(f);
    expect([...asked].sort((a, b) => a - b)).toEqual(all.map(({ index }) => index));
    const expected = results(f);
    const changed = all.filter(({ index }) => {
      try {
        return results(load(code, index).f) !== expected;
      } catch {
        return true;
      }
    });
    expect(changed.length).toBeGreaterThan(all.length * 0.8);
  });

  it("leaves out mutants that were not chosen", () => {
    expect(instrument("x.ts", source, () => undefined)).toBe(source);
  });
});
