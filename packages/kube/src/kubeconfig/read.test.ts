import { describe, expect, it } from "vitest";
import { loadConfig } from "../load-config.ts";
import { FakePlatform } from "../testing/fake-platform.ts";
import { kubeconfig, loadText } from "../testing/kubeconfigs.ts";

describe("a kubeconfig file", () => {
  const read = async (content: string | Error): Promise<unknown> => {
    const platform = new FakePlatform();
    platform.files.set("/dir/config", content);
    return loadConfig({ kubeconfig: "/dir/config", platform });
  };
  const system = (code: string): Error => Object.assign(new Error(code), { code });
  it.each([
    [system("EACCES"), "Cannot read the kubeconfig /dir/config: permission denied."],
    [system("EISDIR"), "Cannot read the kubeconfig /dir/config: it is a directory."],
    ["", "Cannot use the kubeconfig /dir/config: it is empty."],
    ["# nothing\n---\n", "Cannot use the kubeconfig /dir/config: it is empty."],
    ["just text", "Cannot use the kubeconfig /dir/config: it is not a kubeconfig but a string."],
    ["~", "Cannot use the kubeconfig /dir/config: it is not a kubeconfig but a null."],
    ["- a", "Cannot use the kubeconfig /dir/config: it is not a kubeconfig but a list."],
    ["clusters: 5", "Cannot use the kubeconfig /dir/config: /dir/config: clusters must be a list."],
    ["users: [{user: {}}]", "an entry of users: it has no name."],
    ["users: [{name: a}, {name: a}]", 'users contains "a" twice.'],
    [" ".repeat(2 << 20), "Cannot read the kubeconfig /dir/config: it is too large."],
  ])("with %j is rejected", async (content, message) => {
    await expect(read(content)).rejects.toThrow(message);
    await expect(read(content)).rejects.toMatchObject({ code: "BadConfig" });
  });
  it("that is not YAML is rejected with the position but without the text, which may be secret", async () => {
    const error = await loadText("users:\n- name: u\n  token: s3cret: oops\n").catch((thrown) => thrown);
    expect(error.message).toMatch(
      /^Cannot use the kubeconfig \/dir\/config: it is not valid YAML: .* at line 3, column \d+\. Pass/,
    );
    expect(`${error.stack} ${error.cause}`).not.toContain("s3cret");
  });
  it("can be JSON", async () => {
    const text = JSON.stringify({
      clusters: [{ name: "c", cluster: { server: "https://api" } }],
      contexts: [{ name: "x", context: { cluster: "c" } }],
      "current-context": "x",
    });
    expect((await loadText(text)).config.server).toBe("https://api");
  });
  it("can use anchors and merge keys", async () => {
    const text = kubeconfig({ rest: "" }).replace("{cluster: c, user: u}", "{<<: &d {cluster: c}, user: u}");
    expect((await loadText(text)).config.server).toBe("https://api");
  });
  const many = (count: number, line: (i: number) => string): string =>
    Array.from({ length: count }, (_, i) => line(i)).join("\n");
  it.each([
    [
      "aliases",
      `a0: &a0 [x]\n${many(200, (i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`)}`,
      "aliases exceeded",
    ],
    ["levels", "[".repeat(100_000), "nesting exceeded"],
    [
      "merges",
      `b: &b\n${many(90, (i) => `  k${i}: 1`)}\n${many(90, (i) => `m${i}: {<<: *b}`)}`,
      "merge keys exceeded",
    ],
  ])("with too many %s is rejected", async (_what, text, why) => {
    await expect(loadText(text)).rejects.toThrow(`it is not valid YAML: ${why}`);
  });
  const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  const aliased = (count: number) => `x: &x 1\ny: [${Array(count).fill("*x").join(", ")}]`;
  it.each([
    ["50 levels", `x: ${nested(48)}`, `x: ${nested(52)}`],
    ["100 aliases", aliased(100), aliased(101)],
    ["1 MiB", `x: 1 #${"x".repeat(1_048_576 - 6)}`, `x: 1 #${"x".repeat(1_048_576 - 5)}`],
  ])("may have %s and no more", async (_what, good, bad) => {
    await expect(read(good)).rejects.toThrow("current-context is not set");
    await expect(read(bad)).rejects.toThrow(/exceeded|too large/);
    await expect(read(bad)).rejects.toMatchObject({ code: "BadConfig" });
  });
  it("is rejected without quoting a secret that looks like an alias", async () => {
    await expect(loadText("token: *s3cret")).rejects.toThrow(
      'it is not valid YAML: unidentified alias "…" at line 1',
    );
  });
});
