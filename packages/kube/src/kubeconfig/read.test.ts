import { describe, expect, it } from "vitest";
import { loadConfig } from "../load-config.ts";
import { FakePlatform } from "../testing/fake-platform.ts";
import { kubeconfig, loadText } from "../testing/kubeconfigs.ts";

describe("a file", () => {
  const read = async (content: string | Error): Promise<unknown> => {
    const platform = new FakePlatform();
    platform.files.set("/dir/config", content);
    return loadConfig({ kubeconfig: "/dir/config", platform });
  };
  const system = (code: string): Error => Object.assign(new Error(code), { code });
  it.each([
    [system("EACCES"), "Cannot read the kubeconfig /dir/config: this user may not read it."],
    [system("EISDIR"), "Cannot read the kubeconfig /dir/config: it is a directory."],
    ["", "Cannot use the kubeconfig /dir/config: it is empty."],
    ["# nothing\n---\n", "Cannot use the kubeconfig /dir/config: it is empty."],
    ["just text", "Cannot use the kubeconfig /dir/config: it is not a kubeconfig but a string."],
    ["- a", "Cannot use the kubeconfig /dir/config: it is not a kubeconfig but a list."],
    ["clusters: 5", "Cannot use the kubeconfig /dir/config: /dir/config: clusters must be a list."],
    ["users: [{user: {}}]", "an entry of users: it has no name."],
    ["users: [{name: a}, {name: a}]", 'users names "a" twice.'],
    [" ".repeat(2 << 20), "Cannot read the kubeconfig /dir/config: it is too large."],
  ])("like %j is refused", async (content, message) => {
    await expect(read(content)).rejects.toThrow(message);
    await expect(read(content)).rejects.toMatchObject({ code: "BadConfig" });
  });
  it("that is not YAML is refused with the place, and without the text there, which may be secret", async () => {
    const error = await loadText("users:\n- name: u\n  token: s3cret: oops\n").catch((thrown) => thrown);
    expect(error.message).toMatch(
      /^Cannot use the kubeconfig \/dir\/config: it is not YAML, .* at line 3, column \d+\. Pass/,
    );
    expect(`${error.stack} ${error.cause}`).not.toContain("s3cret");
  });
  it("may be JSON", async () => {
    const text = JSON.stringify({
      clusters: [{ name: "c", cluster: { server: "https://api" } }],
      contexts: [{ name: "x", context: { cluster: "c" } }],
      "current-context": "x",
    });
    expect((await loadText(text)).config.server).toBe("https://api");
  });
  it("may use anchors and merge keys, as those who write by hand do", async () => {
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
    ["depth", "[".repeat(100_000), "nesting exceeded"],
    [
      "merges",
      `b: &b\n${many(90, (i) => `  k${i}: 1`)}\n${many(90, (i) => `m${i}: {<<: *b}`)}`,
      "merge keys exceeded",
    ],
  ])("that is a bomb of %s is refused, not run", async (_what, text, why) => {
    await expect(loadText(text)).rejects.toThrow(`it is not YAML, ${why}`);
  });
  it("does not show a secret that looks like an alias", async () => {
    await expect(loadText("token: *s3cret")).rejects.toThrow(
      'it is not YAML, unidentified alias "…" at line 1',
    );
  });
});
