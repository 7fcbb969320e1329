// A supervisor process for tests that kill it, freeze it or cut it off: the built packages, with an in-memory lock.
// Its argument is JSON: { supervisor: options, election: options }. It prints its events as lines of JSON. SIGTERM ends its
// run, SIGUSR2 cuts it off from its lock, and SIGUSR1 blocks its event loop for 5 s.
import { Election } from "@tenure/election";
import { readyFile } from "@tenure/traffic";
import { parseHealth, parseReady, Supervisor } from "../../dist/index.js";

const { supervisor: given, election: timings } = JSON.parse(process.argv[2]);
const say = (event, facts) =>
  process.stdout.write(`${JSON.stringify({ event, atMs: Date.now(), ...facts })}\n`);

let view;
let isCut = false;
let revision = 0n;
const hang = new Promise(() => {});
const lock = {
  description: "lock in memory",
  read: async () => (isCut ? hang : view ? { kind: "found", view } : { kind: "absent" }),
  write: async (record, over) => {
    if (isCut) return hang;
    if (over?.version !== view?.version) return { kind: "conflict" };
    revision += 1n;
    view = { uid: "u", version: String(revision), revision, record };
    if (record.holderIdentity === "") say("released", {});
    return { kind: "found", view };
  },
};

const election = new Election({ lock, identity: "host", onOverrun: "report", ...timings });
const supervisor = new Supervisor({
  election,
  electionName: "test/host",
  ...given,
  ...(given.readyFile && { gates: [readyFile({ path: given.readyFile })] }),
  ...(given.ready && { ready: parseReady(given.ready) }),
  ...(given.health && { health: { ...given.health, check: parseHealth(given.health.check) } }),
});
for (const name of ["phase", "child", "health"]) supervisor.on(name, (facts) => say(name, facts));
supervisor.on("error", ({ error }) => say("error", { code: error.code, message: error.message }));
election.on("term-started", ({ term }) => {
  term.lost.addEventListener("abort", () => say("lost", { remainingMs: term.remainingMs() }));
  term.expired.addEventListener("abort", () => say("expired", {}));
});
election.on("term-ended", ({ reason, released }) => say("term-ended", { reason, released }));
election.on("renewed", ({ term }) => say("renewed", { remainingMs: term.remainingMs() }));
const shutdown = new AbortController();
process.on("SIGTERM", () => (shutdown.signal.aborted ? supervisor.hurry() : shutdown.abort()));
process.on("SIGUSR2", () => {
  isCut = true;
  say("cut", {});
});
process.on("SIGUSR1", () => {
  say("blocked", {});
  const endMs = Date.now() + 5_000;
  while (Date.now() < endMs) {}
});
const outcome = await supervisor.run({ signal: shutdown.signal });
say("outcome", outcome);
process.exitCode = outcome.exitCode;
