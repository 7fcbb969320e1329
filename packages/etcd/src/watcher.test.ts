import { EventEmitter } from "node:events";
import { type Metadata, status } from "@grpc/grpc-js";
import { settle, VirtualClock } from "@tenure/base/virtual-clock";
import { expect, it } from "vitest";
import { Connection, type GrpcClient } from "./connection.ts";
import { watchKey } from "./watcher.ts";
import type { WatchResponse } from "./wire/messages.ts";

type Rejection = Error | { readonly cancelReason: string };

/** A member that gives a new token each time, and rejects a watch with any but the newest. */
function memberThatRejects(rejection: Rejection) {
  const tokens: string[] = [];
  const used: string[] = [];
  const open = () =>
    ({
      makeUnaryRequest(...args: unknown[]) {
        tokens.push(`token-${tokens.length + 1}`);
        const answer = args.at(-1) as (error: null, response: unknown) => void;
        queueMicrotask(() => answer(null, { token: tokens.at(-1) }));
        return { cancel() {} };
      },
      makeBidiStreamRequest(_path: string, _encode: unknown, _decode: unknown, metadata: Metadata) {
        const stream = Object.assign(new EventEmitter(), {
          cancel() {},
          write() {
            const [token] = metadata.get("token");
            used.push(String(token));
            if (token !== "token-1")
              stream.emit("data", { created: true, events: [] } as unknown as WatchResponse);
            else if (rejection instanceof Error) stream.emit("error", rejection);
            else
              stream.emit("data", { canceled: true, events: [], ...rejection } as unknown as WatchResponse);
          },
        });
        return stream;
      },
      close() {},
    }) as unknown as GrpcClient;
  return { open, used };
}

it.each<[string, Rejection]>([
  [
    "as an error",
    Object.assign(new Error("invalid auth token"), {
      code: status.UNAUTHENTICATED,
      details: "etcdserver: invalid auth token",
    }),
  ],
  [
    "by cancelling the watch",
    { cancelReason: "rpc error: code = Unauthenticated desc = etcdserver: invalid auth token" },
  ],
])("a watch whose token is rejected %s gets a new token", async (_how, rejection) => {
  const clock = new VirtualClock();
  const { open, used } = memberThatRejects(rejection);
  const account = { username: "candidate", password: "secret" };
  const connection = new Connection({ endpoints: ["a"], ...account }, clock, open);
  const failures: unknown[] = [];
  let isUp = false;
  void watchKey(
    {
      ...{ connection, key: new Uint8Array(), clock, random: Math.random },
      onUp: () => {
        isUp = true;
      },
      onEvents() {},
      onDown: (error) => failures.push(error),
    },
    new AbortController().signal,
  );
  await settle();
  expect(failures).toHaveLength(1);
  await clock.pass(1_000);
  expect(isUp).toBe(true);
  expect(used).toEqual(["token-1", "token-2"]);
});
