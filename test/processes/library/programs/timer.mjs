// @ts-check
// Jobs of a timer with runIfLeader.
import { Election, LeaseLock } from "@tenure/election";
import { identity, job, lockOptions, shutdown } from "./work.mjs";

const election = new Election({ lock: new LeaseLock(lockOptions("timer")), identity });
const timer = setInterval(() => election.runIfLeader(job).catch(console.error), 450);
await election.run({ signal: shutdown.signal });
clearInterval(timer);
