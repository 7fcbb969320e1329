// A program with the library, as the manifests for it expect: it answers on its port and on the one of its probes until it is told to stop.
import { createServer } from "node:http";
import { Election, LeaseLock } from "@tenure/election";

const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());
const server = createServer((_request, answer) => answer.end()).listen(3000);
const status = createServer((_request, answer) => answer.end()).listen(8081);
const { NAMESPACE: namespace, POD_NAME: identity } = process.env;
const election = new Election({ lock: new LeaseLock({ namespace, name: "worker" }), identity });
const aborted = (signal) => new Promise((resolve) => signal.addEventListener("abort", resolve));
await election.run(({ signal }) => aborted(signal), { signal: stop.signal });
server.close();
status.close();
