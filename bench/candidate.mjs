// @ts-check
/**
 * A candidate on @tenure/election that prints its events to stdout as JSON lines. The counterpart of bench/client-go: same flags,
 * same lines.
 *
 *     node bench/candidate.mjs --kubeconfig FILE --namespace NS --name NAME --id ID [--count N] …
 */
import { writeSync } from "node:fs";
import { parseArgs } from "node:util";
import { Election, LeaseLock } from "@tenure/election";

const text = /** @type {const} */ ({ type: "string" });
const { values } = parseArgs({
  options: {
    kubeconfig: text,
    namespace: { ...text, default: "default" },
    name: text,
    id: text,
    "lease-duration": { ...text, default: "15s" },
    "renew-deadline": { ...text, default: "10s" },
    "retry-period": { ...text, default: "2s" },
    // client-go has no such flag: its leaders renew every retry period.
    "renew-interval": text,
    "release-on-cancel": { ...text, default: "true" },
    count: { ...text, default: "1" },
    "work-every": { ...text, default: "0" },
  },
});
const { kubeconfig, namespace, name, id } = values;
const count = Number(values.count);
const workEveryMs = Number(values["work-every"].replace(/ms$/, ""));
if (!name || !id || !Number.isSafeInteger(count) || count < 1) {
  console.error("--name and --id are required, and --count must be at least 1");
  process.exit(1);
}

/** @param {string} election */
function eventPrinter(election) {
  /** @param {string} event @param {object} [more] */
  return (event, more) => {
    // CLOCK_MONOTONIC: shared by all processes of this machine, and never set.
    const monoMs = Number(process.hrtime.bigint()) / 1e6;
    const time = new Date().toISOString();
    try {
      writeSync(1, `${JSON.stringify({ event, monoMs, time, id, election, ...more })}\n`);
    } catch {
      // The benchmark that reads this output has ended.
      process.exit(1);
    }
  };
}

async function sharedClient() {
  const { KubeClient, loadConfig } = await import("@tenure/kube");
  return new KubeClient(() => loadConfig(kubeconfig ? { kubeconfig } : {}), {
    userAgent: "tenure leader-election",
  });
}

const shutdown = new AbortController();
for (const signal of /** @type {const} */ (["SIGTERM", "SIGINT"])) {
  process.on(signal, () => {
    // Like a program without a graceful shutdown: the lease is left to expire.
    if (values["release-on-cancel"] === "false") process.exit(0);
    shutdown.abort();
  });
}

const access =
  count > 1 ? { client: await sharedClient(), shareWatch: true } : kubeconfig ? { kubeconfig } : {};
const runs = Array.from({ length: count }, (_, index) => {
  const election = count > 1 ? `${name}-${index}` : name;
  const print = eventPrinter(election);
  const lock = new LeaseLock({ namespace, name: election, ...access });
  const candidate = new Election({
    lock,
    identity: id,
    // client-go does not show its candidates either.
    register: false,
    leaseDuration: values["lease-duration"],
    renewDeadline: values["renew-deadline"],
    retryPeriod: values["retry-period"],
    ...(values["renew-interval"] && { renewInterval: values["renew-interval"] }),
  });
  candidate.on("leader-changed", ({ leader }) => print("new-leader", { leader: leader ?? "" }));
  candidate.on("term-ended", ({ reason, released }) => print("stopped-leading", { reason, released }));
  candidate.on("error", ({ error }) =>
    console.error(`${new Date().toISOString()} ${election}: ${error.message}`),
  );
  return candidate.run(
    async (term) => {
      const token = String(term.token);
      print("started-leading", { token });
      const timer =
        workEveryMs > 0 && setInterval(() => term.isValid() && print("worked", { token }), workEveryMs);
      await new Promise((resolve) => {
        if (term.signal.aborted) resolve(undefined);
        term.signal.addEventListener("abort", resolve, { once: true });
      });
      if (timer) clearInterval(timer);
      print("work-stopped");
    },
    { signal: shutdown.signal },
  );
});
await Promise.all(runs);
