/** The consumer takes its types from the user's client. This file only has to compile. */
import { credentials } from "@grpc/grpc-js";
import { StreamConsumer } from "@tenure/stream";
import { expect, expectTypeOf, it } from "vitest";
import { type Item, ItemsClient } from "./support.ts";

it("infers the types of client, message and cursor", () => {
  const consumer = new StreamConsumer({
    client: (options) => new ItemsClient("127.0.0.1:1", credentials.createInsecure(), options),
    cursor: (item: Item) => item.id,
    open: (client, { cursor, metadata }) => {
      expectTypeOf(client).toEqualTypeOf<ItemsClient>();
      expectTypeOf(cursor).toEqualTypeOf<number | undefined>();
      return client.subscribe({ after: cursor ?? 0 }, metadata);
    },
    handle: (item, { client }) => {
      expectTypeOf(item).toEqualTypeOf<Item>();
      expectTypeOf(client).toEqualTypeOf<ItemsClient>();
    },
    onDrain: ({ cursor }) => expectTypeOf(cursor).toEqualTypeOf<number | undefined>(),
  });
  expect(consumer.phase).toBe("idle");
});

it("works without a cursor", () => {
  const consumer = new StreamConsumer({
    client: (options) => new ItemsClient("127.0.0.1:1", credentials.createInsecure(), options),
    open: (client, { metadata }) => client.subscribe({ after: 0 }, metadata),
    handle: (item) => expectTypeOf(item).toEqualTypeOf<Item>(),
  });
  expect(consumer.phase).toBe("idle");
});
