import { describe, expect, it } from "vitest";
import { kubeconfig, loadText } from "../testing/kubeconfigs.ts";

describe("a context", () => {
  const two = kubeconfig({
    rest: "",
  }).replace("contexts:", "contexts:\n- {name: y, context: {cluster: c, user: u, namespace: other}}");
  it("can be chosen by name", async () => {
    expect((await loadText(two, { context: "y" })).config.namespace).toBe("other");
  });
  it("that does not exist is rejected with a list of those that do", async () => {
    await expect(loadText(two, { context: "z" })).rejects.toMatchObject({
      code: "BadConfig",
      message: 'Cannot use the kubeconfig /dir/config: the context "z" does not exist. Available: "y", "x".',
    });
    await expect(loadText(two.replace("current-context: x", "current-context: z"))).rejects.toThrow(
      'its current-context "z" does not exist. Available: "y", "x".',
    );
  });
  it("cannot be chosen if there is none", async () => {
    await expect(loadText("clusters: []")).rejects.toMatchObject({
      code: "BadConfig",
      message: expect.stringContaining("current-context is not set. Pass context"),
    });
    await expect(loadText("clusters: []")).rejects.toThrow("Available: none.");
  });
  it("is required", async () => {
    await expect(loadText(two.replace("current-context: x", ""))).rejects.toThrow(
      'current-context is not set. Pass context or run kubectl config use-context. Available: "y", "x".',
    );
  });
  it("has all its problems reported in one error", async () => {
    const text = "contexts: [{name: x, context: {cluster: c, user: u, namespace: 5}}]\ncurrent-context: x";
    await expect(loadText(text)).rejects.toThrow(
      'Cannot use the kubeconfig /dir/config: context "x": its cluster "c" does not exist; context "x": its user "u" does not exist; context "x": namespace must be a string; put it in quotes.',
    );
  });
  it("that is not used is not checked", async () => {
    const text = kubeconfig({ rest: "" }).replace(
      "users:",
      "users:\n- {name: old, user: {auth-provider: {name: gcp}}}",
    );
    await expect(loadText(text)).resolves.toBeDefined();
  });
  it("without a cluster is rejected", async () => {
    await expect(loadText("contexts: [{name: x, context: {}}]\ncurrent-context: x")).rejects.toThrow(
      'context "x": it has no cluster',
    );
  });
});
