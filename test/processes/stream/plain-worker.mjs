// @ts-check
// A worker for tests. It has no onDrain, and its handler can be made to hang.
import { credentials } from "@grpc/grpc-js";
import { runWorker, StreamConsumer } from "@tenure/stream";
import { ask, Orders } from "../../../examples/stream-worker/orders.mjs";

const [server = "", behaviour = "works"] = process.argv.slice(2);

const consumer = new StreamConsumer({
  client: (options) => new Orders(server, credentials.createInsecure(), options),
  open: (client, { cursor, metadata }) => client.subscribe({ after: cursor ?? 0 }, metadata),
  cursor: (/** @type {any} */ order) => order.id,
  concurrency: 8,
  drainTimeoutMs: 1_000,
  shutdownTimeoutMs: 2_000,
  async handle(order, { client, metadata }) {
    if (behaviour === "hangs") {
      console.log(`hangs on ${order.id}`);
      await new Promise(() => setInterval(() => {}, 1_000));
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    await ask(client, "finish", { ids: [order.id] }, metadata);
    console.log(`finished ${order.id}`);
  },
});

await runWorker({ consumer });
