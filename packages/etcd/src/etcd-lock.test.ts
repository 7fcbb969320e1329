import { ElectionError } from "@tenure/election";
import { expect, it } from "vitest";
import { EtcdLock } from "./etcd-lock.ts";

it("reports all problems of its options at once, without the password", () => {
  const create = () =>
    new EtcdLock({ name: "", endpoints: [], prefix: "\n", password: "hidden", tls: { cert: "x" } });
  expect(create).toThrow(ElectionError);
  expect(create).toThrow(
    /endpoints must be .*name must be .*prefix must be .*password needs username; tls must have both cert and key/,
  );
  expect(create).not.toThrow(/hidden/);
  expect(() => new EtcdLock({ name: "x", endpoints: ["a"], tls: { ca: "x" } })).toThrow(
    "tls needs endpoints that begin with https://",
  );
});

it("is described by its key and its servers", async () => {
  const lock = new EtcdLock({ name: "x", endpoints: ["a", "b:1"], prefix: "/ours/" });
  expect(lock.description).toBe("key /ours/x in etcd a:2379,b:1");
  expect(await lock.serverAddress()).toBe("etcd a:2379,b:1");
});
