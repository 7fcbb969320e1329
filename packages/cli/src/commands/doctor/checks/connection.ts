/** Credentials, namespace, clock, latency, watch: what every election stands on. */
import { formatDuration } from "@tenure/base";
import { KubeError } from "@tenure/kube";
import { collectionPath, objectPath } from "../../../elections/lock-object.ts";
import type { Session } from "../../../elections/session.ts";
import { spell } from "../../../elections/time-words.ts";
import type { DoctorFlags } from "../doctor.ts";
import { finding, ok, type Report, skipped } from "../report.ts";

type Doctor = Session<DoctorFlags>;

/** Who the server takes us for. */
export async function checkCredentials({ client, server, serverClock }: Doctor): Promise<Report> {
  try {
    const who = await serverClock.during(() => whoAmI(client));
    return ok("credentials", `accepted by ${server}${who === undefined ? "" : ` as ${who}`}`);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return finding("credentials", error.message, credentialsFix(error, server));
  }
}

async function whoAmI(client: Doctor["client"]): Promise<string | undefined> {
  const apiVersion = "authentication.k8s.io/v1";
  try {
    const { status } = await client.request<{ status?: { userInfo?: { username?: string } } }>({
      method: "POST",
      path: `/apis/${apiVersion}/selfsubjectreviews`,
      body: { apiVersion, kind: "SelfSubjectReview" },
    });
    return status?.userInfo?.username;
  } catch (error) {
    // Older than 1.28, or not for everybody: that the server answers is what matters.
    if (!(error instanceof KubeError) || (error.code !== "NotFound" && error.code !== "Forbidden"))
      throw error;
    await client.request({ method: "GET", path: "/version" });
    return undefined;
  }
}

function credentialsFix({ code }: KubeError, server: string): string {
  switch (code) {
    case "Unauthorized":
      return "the token or certificate has expired or is of another cluster: get a new one, or choose a --context";
    case "Tls":
      return "the certificate of the server is not signed by the authority in the kubeconfig: get a new kubeconfig";
    case "Unreachable":
    case "Timeout":
      return `see that ${server} is the right address, that the server runs, and that no firewall or proxy is between`;
    default:
      return "get a new kubeconfig, or choose another --context";
  }
}

export async function checkNamespace({ client, namespace, serverClock }: Doctor): Promise<Report> {
  try {
    const path = `/api/v1/namespaces/${namespace}`;
    const { status } = await serverClock.during(() =>
      client.request<{ status?: { phase?: string } }>({ method: "GET", path }),
    );
    if (status?.phase !== "Terminating") return ok("namespace", `"${namespace}" exists`);
    const what = `"${namespace}" is being deleted: nothing can be created in it any more`;
    return finding("namespace", what, "move the election to another namespace, with -n");
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (error.code === "Forbidden") return skipped("namespace", `may not read namespace "${namespace}"`);
    if (error.code !== "NotFound") throw error;
    const fix = `kubectl create namespace ${namespace}, or say another with -n`;
    return finding("namespace", `"${namespace}" does not exist`, fix);
  }
}

/** Further off than this, times in a Lease mislead people, and soon tokens and certificates are refused. */
const mostClockOffMs = 2_000;

export function checkClock({ serverClock }: Doctor): Report {
  const time = serverClock.time();
  if (time === undefined) return skipped("clock", "the API server told no time");
  const offMs = Math.abs(time.offsetMs);
  if (offMs <= mostClockOffMs) {
    const within = offMs === 0 ? `within ${milliseconds(time.uncertaintyMs)}` : milliseconds(offMs);
    return ok("clock", `this machine and the API server agree (${within})`);
  }
  const direction = time.offsetMs > 0 ? "behind" : "ahead of";
  return finding(
    "clock",
    `this machine's clock is ${spell(offMs)} ${direction} the API server's`,
    "set it by NTP (timedatectl set-ntp true). Elections do not compare clocks, but tokens, certificates and people do",
  );
}

const samples = 10;

/** One read of the lock after the other, as a candidate would do it, against the time that it gives one attempt. */
export async function checkLatency(
  session: Doctor,
  name: string,
  renewDeadlineMs: number,
  whence: string,
): Promise<Report> {
  const { client, namespace, serverClock } = session;
  const limitMs = renewDeadlineMs / 4;
  const took: number[] = [];
  while (took.length < samples) {
    const startedMs = session.monotonicMs();
    try {
      const path = objectPath("lease", namespace, name);
      // A little longer than the limit is enough to know.
      await serverClock.during(() =>
        client.request({ method: "GET", path, timeoutMs: Math.max(limitMs * 2, 1_000) }),
      );
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      // An answer is an answer, whatever it says; what hangs counts for as long as it did.
      if (error.status === undefined && error.code !== "Timeout")
        return finding("latency", error.message, network);
    }
    took.push(session.monotonicMs() - startedMs);
    // The slowest of ten is what counts: one is enough.
    if ((took.at(-1) as number) > limitMs) break;
  }
  const slowest = Math.max(...took);
  const against = `a quarter of renewDeadline ${formatDuration(renewDeadlineMs)} (${whence}), ${formatDuration(limitMs)}`;
  if (slowest <= limitMs)
    return ok(
      "latency",
      `the slowest of ${took.length} reads took ${milliseconds(slowest)}, below ${against}`,
    );
  return finding(
    "latency",
    `a read took ${milliseconds(slowest)}, longer than ${against}: renewals will be given up and repeated, and leadership may be lost`,
    `raise the timings (--preset low-load: renewDeadline 45s), or see why the API server is slow (kubectl get --raw /metrics, the network)`,
  );
}

const network = "see whether the API server restarts or a proxy on the way closes connections";

function milliseconds(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : spell(ms);
}

const watchWithinMs = 5_000;

/** A watch tells of what is there when it begins: if it does, it works; nothing has to be changed for it. */
export async function checkWatch(
  session: Doctor,
  name: string | undefined,
  expectsEvent: boolean,
): Promise<Report> {
  const { client, namespace, platform } = session;
  const stop = new AbortController();
  let trouble: KubeError | undefined;
  let isUp = false;
  let isTold = false;
  const cancel = platform.after(watchWithinMs, () => stop.abort());
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
        isTold = true;
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
  const poll = "without a watch candidates read every retryPeriod, and take over later";
  if (isTold) return ok("watch", "works: the lock was told at once");
  if (isUp && trouble === undefined && !expectsEvent)
    return ok("watch", "connects (there is nothing to be told yet)");
  if (trouble?.code === "Forbidden") return skipped("watch", "may not watch leases: see rights");
  const what = trouble ? trouble.message : `it connected, and told nothing within ${spell(watchWithinMs)}`;
  return finding(
    "watch",
    what,
    `look for a proxy or load balancer that buffers or cuts long answers; ${poll}`,
  );
}
