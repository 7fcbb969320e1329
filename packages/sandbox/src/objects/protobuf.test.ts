import { expect, test } from "vitest";
import { readProtobuf } from "./protobuf.ts";

/** Encodes one field of the wire format: a varint, or bytes with their length. */
function field(number: number, value: number | string | Buffer): Buffer {
  const varint = (rest: number): number[] =>
    rest < 0x80 ? [rest] : [(rest & 0x7f) | 0x80, ...varint(Math.floor(rest / 128))];
  if (typeof value === "number") return Buffer.from([...varint(number * 8), ...varint(value)]);
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
}
const message = (...fields: Buffer[]) => Buffer.concat(fields);
const envelope = (apiVersion: string, kind: string, raw: Buffer) =>
  message(Buffer.from("k8s\0"), field(1, message(field(1, apiVersion), field(2, kind))), field(2, raw));

test("reads a Lease and its times", () => {
  const time = message(field(1, 1_700_000_000), field(2, 123_456_000));
  const spec = message(field(1, "me"), field(2, 15), field(4, time));
  const metadata = message(field(1, "a"), field(11, message(field(1, "app"), field(2, "web"))));
  const bytes = envelope("coordination.k8s.io/v1", "Lease", message(field(1, metadata), field(2, spec)));
  expect(readProtobuf(bytes, () => "api.coordination.v1.Lease")).toEqual({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "a", labels: { app: "web" } },
    spec: { holderIdentity: "me", leaseDurationSeconds: 15, renewTime: "2023-11-14T22:13:20.123456Z" },
  });
});

test("embedded structs become flat, and wrapped lists become lists", () => {
  const source = message(field(19, message(field(1, message(field(1, "settings"))))));
  const volume = message(field(1, "v"), field(2, source));
  const pod = message(field(2, message(field(1, volume), field(1, message(field(1, "w"))))));
  expect(readProtobuf(envelope("v1", "Pod", pod), () => "api.core.v1.Pod")).toMatchObject({
    spec: { volumes: [{ name: "v", configMap: { name: "settings" } }, { name: "w" }] },
  });
  const extra = message(field(1, "scopes"), field(2, message(field(1, "one"), field(1, "two"))));
  const review = message(field(2, message(field(3, "joe"), field(5, extra))));
  const type = "api.authorization.v1.SubjectAccessReview";
  expect(
    readProtobuf(envelope("authorization.k8s.io/v1", "SubjectAccessReview", review), () => type),
  ).toMatchObject({
    spec: { user: "joe", extra: { scopes: ["one", "two"] } },
  });
});

test("invalid and truncated protobuf is rejected", () => {
  expect(() => readProtobuf(Buffer.from("{}"), () => "api.core.v1.Pod")).toThrow("expected prefix");
  expect(() => readProtobuf(Buffer.from("k8s\0\x0a\x7f"), () => "api.core.v1.Pod")).toThrow("unexpected EOF");
});

test("data of any type is JSON inside of protobuf", () => {
  const type = () => "api.apps.v1.ControllerRevision";
  const revision = (json: string) =>
    envelope("apps/v1", "ControllerRevision", message(field(2, message(field(1, json))), field(3, 4)));
  expect(readProtobuf(revision('{"b":["<",1],"a":null}'), type)).toMatchObject({
    data: { b: ["<", 1], a: null },
    revision: 4,
  });
  expect(() => readProtobuf(revision("{"), type)).toThrow("unexpected end of JSON input");
  expect(() => readProtobuf(revision("[".repeat(100_000)), type)).toThrow("exceeded max depth");
});
