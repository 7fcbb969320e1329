// @ts-check
// Processes orders. Start it under `tenure run`, so that exactly one of your replicas does.
//   tenure run --lease-lock-name orders --ready ipc -- node examples/stream-worker/worker.mjs --server 127.0.0.1:50051
import { openSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { status } from "@grpc/grpc-js";
import { channelCredentials, runWorker, StreamConsumer } from "@tenure/stream";
import { inBatches } from "./batch.mjs";
import { ask, Orders } from "./orders.mjs";

const { values } = parseArgs({
  options: {
    server: { type: "string", default: "127.0.0.1:50051" },
    "work-ms": { type: "string", default: "0" },
    concurrency: { type: "string", default: "1" },
    health: { type: "string" },
    "ready-fd": { type: "string" },
    // Uses the bidirectional method: finished orders are acknowledged on the stream itself.
    acknowledge: { type: "boolean", default: false },
    // A file that records the token and number of each started order, for tests that count orders started twice.
    journal: { type: "string" },
  },
});
const workMs = Number(values["work-ms"]);
const journal = values.journal ? openSync(values.journal, "a") : undefined;
const token = BigInt(process.env.TENURE_TOKEN ?? "0");

/** @type {(order: { id: number, context: any }) => Promise<void>} */
const finish = inBatches(([first, ...others]) => {
  const { client, metadata } = first.context;
  return ask(client, "finish", { ids: [first, ...others].map(({ id }) => id) }, metadata);
});

/** @typedef {import("./orders.mjs").Order} Order */

/** How orders arrive, and how the service learns that they are finished. */
const way = values.acknowledge
  ? {
      open: (/** @type {any} */ client, /** @type {any} */ { cursor, metadata }) => {
        const stream = client.process(metadata);
        stream.write({ after: cursor ?? 0 });
        return stream;
      },
      acknowledge: (/** @type {Order} */ order) => ({ finished: order.id }),
    }
  : {
      open: (/** @type {any} */ client, /** @type {any} */ { cursor, metadata }) =>
        client.subscribe({ after: cursor ?? 0 }, metadata),
      onDrain: (/** @type {any} */ { client, metadata }) => ask(client, "leave", {}, metadata),
    };

const consumer = new StreamConsumer({
  ...way,
  client: (options) => new Orders(values.server, channelCredentials({ tls: false }), options),
  cursor: (/** @type {Order} */ order) => order.id,
  concurrency: Number(values.concurrency),
  // More precise than a timeout: the service has seen a later token, so another worker has taken over.
  stopOn: [status.FAILED_PRECONDITION],
  onHandlerError: ({ error }) =>
    "code" in error && error.code === status.FAILED_PRECONDITION ? "stop" : "retry",
  async handle(order, context) {
    if (journal !== undefined) writeSync(journal, new BigUint64Array([token, BigInt(order.id)]));
    if (workMs > 0) await sleep(workMs);
    if (!values.acknowledge) await finish({ id: order.id, context });
  },
});

await runWorker({
  consumer,
  ...(values.health ? { healthListen: values.health } : {}),
  ...(values["ready-fd"] ? { readyFd: Number(values["ready-fd"]) } : {}),
});
