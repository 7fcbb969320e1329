/**
 * Controls a sandbox from another process, as `tenure sandbox faults …` does. It finds the sandbox by its kubeconfig.
 */
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { SandboxError } from "../errors.ts";
import { adminPath } from "./admin.ts";
import { type FaultSpec, type ListedFault, parseFault } from "./fault.ts";

export interface SandboxControl {
  /** Adds a fault and returns its id. */
  addFault(spec: FaultSpec): Promise<number>;
  listFaults(): Promise<ListedFault[]>;
  removeFault(id: number): Promise<boolean>;
  clearFaults(): Promise<void>;
  /** Drops the history of changes. Returns the oldest revision from which a watch can resume. */
  compact(): Promise<number>;
  /** Closes all connections and starts again, with the same port and the same data. */
  restart(): Promise<void>;
}

const requestTimeoutMs = 10_000;

interface Endpoint {
  server: URL;
  token: string;
  ca: Buffer | undefined;
}

/** @param kubeconfig the content of the kubeconfig that the sandbox wrote */
export async function connectSandbox(kubeconfig: string): Promise<SandboxControl> {
  const endpoint = await parseKubeconfig(kubeconfig);
  const call = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const { status, json } = await send(endpoint, method, `${adminPath}${path}`, body);
    if (status === 200) return json;
    const { origin } = endpoint.server;
    const why = String(json.message ?? `it responded with status ${status}`);
    if (status === 400) throw new SandboxError("INVALID_OPTION", why);
    throw new SandboxError("NOT_REACHABLE", `Cannot control the sandbox at ${origin}: ${why}`);
  };
  return {
    addFault: async (spec) => (await call("POST", "faults", parseFault(spec))).id as number,
    listFaults: async () => (await call("GET", "faults")).faults as ListedFault[],
    async removeFault(id) {
      const { status } = await send(endpoint, "DELETE", `${adminPath}faults/${id}`);
      return status === 200;
    },
    clearFaults: async () => void (await call("DELETE", "faults")),
    compact: async () => (await call("POST", "compact")).compactedRevision as number,
    restart: async () => void (await call("POST", "restart")),
  };
}

async function parseKubeconfig(text: string): Promise<Endpoint> {
  const { load } = await import("js-yaml");
  try {
    const config = load(text) as {
      clusters: { cluster: { server: string; "certificate-authority-data"?: string } }[];
      users: { user: { token: string } }[];
    };
    const cluster = config.clusters[0]?.cluster;
    const token = config.users[0]?.user.token;
    if (!cluster || typeof token !== "string") throw new Error("it has no cluster or no token");
    const ca = cluster["certificate-authority-data"];
    return { server: new URL(cluster.server), token, ca: ca ? Buffer.from(ca, "base64") : undefined };
  } catch (cause) {
    throw new SandboxError(
      "INVALID_OPTION",
      "Cannot use the kubeconfig as no sandbox wrote it: use the file that `tenure sandbox` writes",
      { cause },
    );
  }
}

function send({ server, token, ca }: Endpoint, method: string, path: string, body?: unknown) {
  return new Promise<{ status: number; json: Record<string, unknown> }>((resolve, reject) => {
    const text = body === undefined ? "" : JSON.stringify(body);
    const options = {
      hostname: server.hostname.replace(/[[\]]/g, ""),
      port: server.port,
      method,
      path,
      timeout: requestTimeoutMs,
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      agent: false as const,
    };
    const request = ca ? httpsRequest({ ...options, ca }) : httpRequest(options);
    const fail = (why: string, cause?: unknown) =>
      reject(
        new SandboxError("NOT_REACHABLE", `Cannot reach a sandbox at ${server.origin}: ${why}`, { cause }),
      );
    request.on("timeout", () =>
      request.destroy(new Error(`no response within ${requestTimeoutMs / 1000} s`)),
    );
    request.on("error", (error: NodeJS.ErrnoException) =>
      fail(
        error.code === "ECONNREFUSED"
          ? "no server listens there: start a sandbox with `tenure sandbox`"
          : error.message,
        error,
      ),
    );
    request.on("response", (response) => {
      let answer = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        answer += chunk;
      });
      response.on("end", () => {
        try {
          resolve({ status: response.statusCode ?? 0, json: JSON.parse(answer) });
        } catch {
          resolve({ status: response.statusCode ?? 0, json: { message: answer.trim() } });
        }
      });
    });
    request.end(text);
  });
}
