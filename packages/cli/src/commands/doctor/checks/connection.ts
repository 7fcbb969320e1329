/** Checks what every election needs: credentials, namespace, clock, latency, watch. */
import { after, formatDuration } from "@tenure/base";
import { presets } from "@tenure/core";
import { KubeError } from "@tenure/kube";
import type { Session } from "../../../cluster/session.ts";
import { whoAmI } from "../../../cluster/who-am-i.ts";
import { spell } from "../../../display/durations.ts";
import { collectionPath, objectPath } from "../../../elections/lock-object.ts";
import type { Advice } from "../advice.ts";
import type { DoctorFlags } from "../doctor-flags.ts";
import { finding, ok, type Report, skipped } from "../report.ts";

type Doctor = Session<DoctorFlags>;

/** Whether the server accepts the credentials, and as which user. */
export async function checkCredentials(
  { client, server, serverClock }: Doctor,
  { where }: Advice,
): Promise<{ readonly report: Report; readonly user?: string }> {
  try {
    const user = await serverClock.during(() => whoAmI(client));
    const report = ok("credentials", `accepted by ${server}${user === undefined ? "" : ` as ${user}`}`);
    return { report, ...(user !== undefined && { user }) };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return { report: finding("credentials", error.message, credentialsFix(error.code, server, where)) };
  }
}

/** Exported for its test. */
export function credentialsFix(code: KubeError["code"], server: string, where: Advice["where"]): string {
  if (code === "Unreachable" || code === "Timeout")
    return `check that ${server} is the right address, that the server is running, and that no firewall or proxy blocks it`;
  // In a pod there is no kubeconfig to replace.
  if (where === "pod")
    return code === "Tls"
      ? "the server's certificate is not signed by the authority in the pod's service account: delete the pod, so that it gets the present one"
      : "the token of the pod's service account is not valid: delete the pod, so that it gets a new one, and check that its ServiceAccount exists";
  if (code === "Unauthorized")
    return "the token or certificate has expired or belongs to another cluster: get a new one, or choose another --context";
  if (code === "Tls")
    return "the server's certificate is not signed by the authority in the kubeconfig: get a new kubeconfig";
  return "get a new kubeconfig, or choose another --context";
}

export async function checkNamespace(
  { client, namespace, serverClock }: Doctor,
  { withoutNamespace }: Advice,
): Promise<Report> {
  try {
    const path = `/api/v1/namespaces/${namespace}`;
    const { status } = await serverClock.during(() =>
      client.request<{ status?: { phase?: string } }>({ method: "GET", path }),
    );
    if (status?.phase !== "Terminating") return ok("namespace", `"${namespace}" exists`);
    const what = `"${namespace}" is being deleted, so nothing can be created in it`;
    return finding("namespace", what, "use another namespace");
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (error.code === "Forbidden")
      return skipped(
        "namespace",
        `you may not get namespace "${namespace}", so whether it exists is unknown`,
      );
    if (error.code !== "NotFound") throw error;
    const fix = {
      fix: "create it, or choose another with -n",
      command: withoutNamespace(`create namespace ${namespace}`),
    };
    return finding("namespace", `"${namespace}" does not exist`, fix);
  }
}

/** With a larger difference the times in a Lease mislead people, and tokens and certificates may be rejected. */
const mostClockOffMs = 2_000;

export function checkClock({ serverClock }: Doctor): Report {
  const time = serverClock.time();
  if (time === undefined) return skipped("clock", "the API server sent no time");
  const offMs = Math.abs(time.offsetMs);
  if (offMs <= mostClockOffMs) {
    const within = offMs === 0 ? `within ${milliseconds(time.uncertaintyMs)}` : milliseconds(offMs);
    return ok("clock", `this machine and the API server agree (${within})`);
  }
  const direction = time.offsetMs > 0 ? "behind" : "ahead of";
  return finding(
    "clock",
    `this machine's clock is ${spell(offMs)} ${direction} that of the API server`,
    "synchronize it with NTP (timedatectl set-ntp true). Elections do not compare clocks, but tokens, certificates and people do",
  );
}

const samples = 10;

/** Reads the lock several times, and compares with the time that a candidate allows for one attempt. */
export async function checkLatency(
  session: Doctor,
  name: string,
  renewDeadlineMs: number,
  source: string,
): Promise<Report> {
  const { client, namespace, serverClock } = session;
  const limitMs = renewDeadlineMs / 4;
  const took: number[] = [];
  while (took.length < samples) {
    const startedMs = session.monotonicMs();
    try {
      const path = objectPath("lease", namespace, name);
      // A response later than this is too slow anyway.
      await serverClock.during(() =>
        client.request({ method: "GET", path, timeoutMs: Math.max(limitMs * 2, 1_000) }),
      );
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      // Any response counts, even an error. A timeout counts with the time that it took.
      if (error.status === undefined && error.code !== "Timeout")
        return finding("latency", error.message, network);
    }
    took.push(session.monotonicMs() - startedMs);
    // One slow read is enough for a finding.
    if ((took.at(-1) as number) > limitMs) break;
  }
  const slowest = Math.max(...took);
  const against = `a quarter of renewDeadline ${formatDuration(renewDeadlineMs)} (${source}), ${formatDuration(limitMs)}`;
  if (slowest <= limitMs)
    return ok(
      "latency",
      `the slowest of ${took.length} reads took ${milliseconds(slowest)}, below ${against}`,
    );
  return finding(
    "latency",
    `a read took ${milliseconds(slowest)}, longer than ${against}: renewals will time out and be retried, and leadership may be lost`,
    `raise the timings (--preset low-load has a renewDeadline of ${presets["low-load"].renewDeadline}), or find out why the API server is slow (kubectl get --raw /metrics, the network)`,
  );
}

const network = "check whether the API server restarts, or a proxy closes connections";

function milliseconds(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : spell(ms);
}

const watchWithinMs = 5_000;

/** A watch first reports the objects that exist, so checking it needs no change. */
export async function checkWatch(
  session: Doctor,
  name: string | undefined,
  expectsEvent: boolean,
): Promise<Report> {
  const { client, namespace, platform } = session;
  const stop = new AbortController();
  let trouble: KubeError | undefined;
  let isUp = false;
  let hasEvent = false;
  const cancel = after(platform.clock, watchWithinMs, () => stop.abort());
  try {
    await client.watch({
      path: collectionPath("lease", namespace),
      query: name === undefined ? {} : { fieldSelector: `metadata.name=${name}` },
      signal: stop.signal,
      onUp() {
        isUp = true;
        if (!expectsEvent) stop.abort();
      },
      onEvent() {
        hasEvent = true;
        stop.abort();
      },
      onDown(error) {
        trouble = error;
        if (error.code === "Forbidden") stop.abort();
      },
    });
  } finally {
    cancel();
  }
  const poll = "without a watch, candidates poll every retryPeriod and take over later";
  if (hasEvent) return ok("watch", "works: the lock was reported at once");
  if (isUp && trouble === undefined && !expectsEvent)
    return ok("watch", "connects (there is nothing to report yet)");
  if (trouble?.code === "Forbidden")
    return skipped("watch", "you may not watch leases, so whether a watch works is unknown");
  const what = trouble
    ? trouble.message
    : `it connected, but reported nothing within ${spell(watchWithinMs)}`;
  return finding(
    "watch",
    what,
    `look for a proxy or load balancer that buffers or cuts long responses; ${poll}`,
  );
}
