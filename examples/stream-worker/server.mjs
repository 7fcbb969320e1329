// @ts-check
// Streams orders and keeps count of them. Ctrl-C prints the report.
//   node examples/stream-worker/server.mjs [--listen 127.0.0.1:50051] [--rate 100] [--total 1000]
import { parseArgs } from "node:util";
import { startService } from "./service.mjs";

const { values } = parseArgs({
  options: {
    listen: { type: "string", default: "127.0.0.1:50051" },
    rate: { type: "string", default: "100" },
    total: { type: "string", default: "Infinity" },
  },
});
const service = await startService({
  listen: values.listen,
  rate: Number(values.rate),
  total: Number(values.total),
  log: console.log,
});
console.log(`serving orders on port ${service.port}`);
for (const name of ["SIGINT", "SIGTERM"]) {
  process.once(name, () => {
    service.close();
    console.log(JSON.stringify(service.ledger.report()));
  });
}
