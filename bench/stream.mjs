// @ts-check
/**
 * Compares the throughput of the @tenure/stream consumer with a plain grpc-js loop on the same stream. The server sends as fast as
 * it can from a separate process; each run uses a new connection. The two compared programs run directly after each other and
 * take turns going first, so that other load on the machine slows both. The result is the median of their ratios.
 *   npm run bench:stream -- [--messages 100000] [--rounds 11]
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
    rounds: { type: "string", default: "11" },
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
  const work = (/** @type {{ cents: number }} */ order) => {
    if (order.cents > 0) count++;
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
  const pairs = [
    {
      what: "a synchronous handler",
      bare: bare((call) => once(call.on("data", work), "end")),
      tenure: consume(work),
    },
    {
      what: "an async handler",
      bare: bare(async (call) => {
        for await (const order of call) await workLater(order);
      }),
      tenure: consume(workLater),
    },
  ];

  /** @param {() => Promise<void>} run */
  const time = async (run) => {
    count = 0;
    const cpu = process.cpuUsage();
    const startedMs = performance.now();
    await run();
    const tookMs = performance.now() - startedMs;
    const { user, system } = process.cpuUsage(cpu);
    if (count !== messages) throw new Error(`received ${count} of ${messages} messages`);
    return { perSecond: (count / tookMs) * 1_000, cpuUs: (user + system) / count };
  };

  console.log(`${messages} messages, median of ${rounds} rounds`);
  for (const { what, ...pair } of pairs) {
    /** @type {{ bare: Measure[], tenure: Measure[] }} */
    const measures = { bare: [], tenure: [] };
    // The first round is a warm-up and is not counted.
    for (let round = 0; round <= rounds; round++) {
      /** @type {("bare" | "tenure")[]} */
      const turns = round % 2 ? ["tenure", "bare"] : ["bare", "tenure"];
      for (const kind of turns) measures[kind].push(await time(pair[kind]));
    }
    const [bareOnes, tenureOnes] = [measures.bare.slice(1), measures.tenure.slice(1)];
    const ratio = median(
      tenureOnes.map(({ perSecond }, round) => perSecond / (bareOnes[round]?.perSecond ?? 0)),
    );
    console.log(`${what}: ${(ratio * 100).toFixed(0)} % of plain grpc-js (target: at least 90 %)`);
    for (const [name, all] of Object.entries({ "grpc-js": bareOnes, tenure: tenureOnes })) {
      const perSecond = Math.round(median(all.map((one) => one.perSecond))).toLocaleString("en");
      console.log(
        `  ${name.padEnd(8)} ${perSecond.padStart(9)} messages/s  ${median(all.map((one) => one.cpuUs)).toFixed(2)} µs CPU each`,
      );
    }
    if (!(ratio >= 0.9)) process.exitCode = 1;
  }
  server.disconnect();
}

/** @typedef {{ perSecond: number, cpuUs: number }} Measure */

/** @param {number[]} values */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
