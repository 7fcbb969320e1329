// @ts-check
/**
 * What the consumer of @tenure/stream costs, compared with a bare grpc-js loop on the same stream. The server floods from a
 * process of its own; each round is a new connection, and the kinds take turns. The best round of each counts: the others
 * tell of what else the machine had to do.
 *   npm run bench:stream -- [--messages 100000] [--rounds 8]
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { credentials, loadPackageDefinition, Server, ServerCredentials } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { StreamConsumer } from "@tenure/stream";

const { values } = parseArgs({
  options: {
    messages: { type: "string", default: "100000" },
    rounds: { type: "string", default: "8" },
    serve: { type: "boolean", default: false },
  },
});
const messages = Number(values.messages);
const rounds = Number(values.rounds);

const definition = loadSync(
  fileURLToPath(new URL("../examples/stream-worker/orders.proto", import.meta.url)),
  {
    longs: Number,
  },
);
/** @type {any} */
const { tenure } = loadPackageDefinition(definition);
const { Orders } = tenure.example.orders.v1;

if (values.serve) await serve();
else await measure();

async function serve() {
  const server = new Server();
  server.addService(Orders.service, {
    subscribe(/** @type {any} */ call) {
      let id = 0;
      const order = { id: 0, customer: "a customer with a name of some length", cents: 4_200 };
      const write = () => {
        while (!call.cancelled && id < messages) {
          id++;
          if (!call.write({ ...order, id })) {
            call.once("drain", write);
            return;
          }
        }
        call.end();
      };
      write();
    },
  });
  const port = await new Promise((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  process.on("disconnect", () => server.forceShutdown());
  process.send?.(port);
}

async function measure() {
  const server = fork(fileURLToPath(import.meta.url), ["--serve", "--messages", String(messages)]);
  const [port] = await once(server, "message");
  const address = `127.0.0.1:${port}`;
  const insecure = credentials.createInsecure();
  let count = 0;
  let sum = 0;
  const work = (/** @type {{ cents: number }} */ order) => {
    count++;
    sum += order.cents;
  };
  const workLater = async (/** @type {{ cents: number }} */ order) => work(order);

  /** @param {(order: any) => unknown} handle */
  const consume = (handle) => async () => {
    const consumer = new StreamConsumer({
      client: (options) => new Orders(address, insecure, options),
      open: (client, { cursor, metadata }) => client.subscribe({ after: cursor ?? 0 }, metadata),
      cursor: (/** @type {any} */ order) => order.id,
      handle,
      onEnd: "stop",
    });
    await consumer.start();
  };
  /** @param {(call: any) => Promise<unknown>} read */
  const bare = (read) => async () => {
    const client = new Orders(address, insecure);
    await read(client.subscribe({ after: 0 }));
    client.close();
  };
  /** @type {Record<string, () => Promise<void>>} */
  const kinds = {
    "grpc-js, on data": bare((call) => once(call.on("data", work), "end")),
    "tenure, handler returns": consume(work),
    "grpc-js, for await": bare(async (call) => {
      for await (const order of call) await workLater(order);
    }),
    "tenure, handler is async": consume(workLater),
  };
  /** @type {Record<string, { perSecond: number, cpuUs: number }[]>} */
  const results = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]));
  // The first round warms up and does not count.
  for (let round = 0; round <= rounds; round++) {
    for (const [kind, run] of Object.entries(kinds)) {
      count = 0;
      const cpu = process.cpuUsage();
      const startedMs = performance.now();
      await run();
      const tookMs = performance.now() - startedMs;
      const { user, system } = process.cpuUsage(cpu);
      if (count !== messages) throw new Error(`${kind} had ${count} of ${messages} messages`);
      if (round > 0)
        results[kind]?.push({ perSecond: (count / tookMs) * 1_000, cpuUs: (user + system) / count });
    }
  }
  server.disconnect();
  const best = (/** @type {string} */ kind) => Math.max(...(results[kind] ?? []).map((r) => r.perSecond));
  const cheapest = (/** @type {string} */ kind) => Math.min(...(results[kind] ?? []).map((r) => r.cpuUs));
  console.log(`${messages} messages, best of ${rounds} rounds (checksum ${sum > 0 ? "fine" : "wrong"})`);
  for (const kind of Object.keys(kinds)) {
    console.log(
      `${kind.padEnd(26)} ${Math.round(best(kind)).toLocaleString("en").padStart(9)} messages/s  ${cheapest(kind).toFixed(2)} µs CPU each`,
    );
  }
  const ratios = [
    best("tenure, handler returns") / best("grpc-js, on data"),
    best("tenure, handler is async") / best("grpc-js, for await"),
  ];
  console.log(`ratio  ${ratios.map((ratio) => ratio.toFixed(2)).join(" and ")}, to be at least 0.90`);
  process.exitCode = ratios.every((ratio) => ratio >= 0.9) ? 0 : 1;
}
