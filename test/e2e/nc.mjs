// @ts-check
/**
 * The part of nc that the specs use, for machines without it: `echo hello | nc -v -t -w 2 HOST PORT`. The image of agnhost has the
 * one of busybox. It exits with 0 if the connection was made.
 */
import { connect } from "node:net";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    verbose: { type: "boolean", short: "v" },
    telnet: { type: "boolean", short: "t" },
    scan: { type: "boolean", short: "z" },
    wait: { type: "string", short: "w", default: "10" },
  },
});
const [host = "", port = ""] = positionals;
const waitMs = Number(values.wait) * 1000;
let isConnected = false;
const end = () => process.exit(isConnected ? 0 : 1);
const socket = connect({ host, port: Number(port) });
socket.setTimeout(waitMs, end);
socket.once("connect", () => {
  isConnected = true;
  console.error(`Connection to ${host} ${port} port [tcp] succeeded!`);
  if (values.scan) end();
  process.stdin.pipe(socket);
  socket.pipe(process.stdout);
});
socket.once("error", (error) => {
  console.error(error.message);
  end();
});
socket.once("close", end);
