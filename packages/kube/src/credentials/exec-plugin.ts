/**
 * Credentials from an exec plugin (aws, gke-gcloud-auth-plugin, kubelogin, …): client.authentication.k8s.io v1 and v1beta1.
 * The plugin runs once at a time, and all callers share the result. The credential is kept until it expires or the server
 * rejects it. Its stdout is secret: no error quotes it, and nothing is written to disk.
 */
import { after, messageOf } from "@tenure/base";
import type { TlsMaterial } from "../config.ts";
import { KubeError, systemCode } from "../errors.ts";
import type { Platform } from "../platform.ts";

type ExecConfig = {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly installHint: string | undefined;
  readonly interactiveMode: string | undefined;
  /** The cluster as the plugin sees it, if it asks for it with provideClusterInfo. */
  readonly cluster: object | undefined;
  /** The name of the user entry, for messages. */
  readonly user: string;
};

type ExecCredential = {
  readonly token: string | undefined;
  readonly tls: TlsMaterial;
};

/** Long enough for a user to log in with a browser. */
const limitMs = 60_000;
const maxOutputBytes = 1024 * 1024;
const group = "client.authentication.k8s.io";

export type ExecPlugin = {
  get(): Promise<ExecCredential>;
  /** Discards the credential, so that the next `get` runs the plugin. */
  forget(): void;
};

/** Throws if the configuration can never work. */
export function execPlugin(config: ExecConfig, platform: Platform): ExecPlugin {
  const label = `exec plugin "${config.command}" of user "${config.user}"`;
  if (config.apiVersion !== `${group}/v1` && config.apiVersion !== `${group}/v1beta1`) {
    throw new KubeError(
      "Unsupported",
      `Cannot use the ${label}: its apiVersion is "${config.apiVersion}". Set it to ${group}/v1 and update the plugin.`,
    );
  }
  const interactive = isInteractive(config, platform, label);
  let cached: { readonly credential: ExecCredential; readonly expiresAt: number } | undefined;
  let running: Promise<ExecCredential> | undefined;

  const start = (): Promise<ExecCredential> => {
    running ??= (async () => {
      try {
        const output = await runPlugin(config, interactive, platform, label);
        cached = readOutput(output.stdout, output.stderr, config, label);
        return cached.credential;
      } finally {
        running = undefined;
      }
    })();
    return running;
  };
  return {
    async get() {
      if (cached !== undefined && platform.clock.now().wallMs < cached.expiresAt) return cached.credential;
      return start();
    },
    forget() {
      cached = undefined;
    },
  };
}

function isInteractive(config: ExecConfig, platform: Platform, label: string): boolean {
  const mode =
    config.interactiveMode ?? (config.apiVersion === `${group}/v1beta1` ? "IfAvailable" : undefined);
  switch (mode) {
    case "Never":
      return false;
    case "IfAvailable":
      return platform.isTerminal();
    case "Always":
      if (platform.isTerminal()) return true;
      throw new KubeError(
        "Unsupported",
        `Cannot use the ${label}: its interactiveMode is "Always" but there is no terminal. Use a plugin that does not prompt, or a token.`,
      );
    default:
      throw new KubeError(
        "BadConfig",
        `Cannot use the ${label}: its interactiveMode is ${mode === undefined ? "missing" : `"${mode}"`}. Set it to Never, IfAvailable or Always.`,
      );
  }
}

async function runPlugin(
  config: ExecConfig,
  interactive: boolean,
  platform: Platform,
  label: string,
): Promise<{ stdout: string; stderr: string }> {
  const info = {
    apiVersion: config.apiVersion,
    kind: "ExecCredential",
    spec: { ...(config.cluster && { cluster: config.cluster }), interactive },
  };
  const extra = Object.fromEntries(config.env.map(({ name, value }) => [name, value]));
  const env = { ...platform.env, ...extra, KUBERNETES_EXEC_INFO: JSON.stringify(info) };
  const limit = new AbortController();
  const cancelTimer = after(platform.clock, limitMs, () =>
    limit.abort(new Error(`it did not exit within ${limitMs / 1000} s`)),
  );
  try {
    const result = await platform.runProcess(config.command, config.args, {
      env,
      interactive,
      maxBytes: maxOutputBytes,
      signal: limit.signal,
    });
    if (result.exitCode === 0) return result;
    const how = result.exitCode === null ? "was killed" : `failed with exit code ${result.exitCode}`;
    throw new KubeError("ExecPlugin", `Cannot get credentials: the ${label} ${how}${quote(result.stderr)}.`);
  } catch (error) {
    if (error instanceof KubeError) throw error;
    const isMissing = systemCode(error) === "ENOENT";
    const hint = isMissing && config.installHint ? ` ${config.installHint.trim()}` : "";
    const why = isMissing ? "is not installed or not in PATH" : `failed: ${messageOf(error)}`;
    throw new KubeError("ExecPlugin", `Cannot get credentials: the ${label} ${why}.${hint}`, {
      cause: error,
    });
  } finally {
    cancelTimer();
  }
}

function readOutput(
  stdout: string,
  stderr: string,
  config: ExecConfig,
  label: string,
): { credential: ExecCredential; expiresAt: number } {
  const fail = (why: string): never => {
    throw new KubeError("ExecPlugin", `Cannot get credentials: the ${label} ${why}${quote(stderr)}.`);
  };
  let parsed: { kind?: unknown; apiVersion?: unknown; status?: Record<string, unknown> | null } | null;
  try {
    parsed = JSON.parse(stdout);
  } catch {
    // Keep neither the text nor the parser's error: both may contain part of a token.
    return fail(stdout.trim() === "" ? "printed nothing" : "did not print JSON");
  }
  if (typeof parsed !== "object" || parsed?.kind !== "ExecCredential")
    return fail("did not print an ExecCredential");
  if (parsed.apiVersion !== config.apiVersion) {
    return fail(`printed apiVersion "${parsed.apiVersion}", but the kubeconfig says "${config.apiVersion}"`);
  }
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = parsed.status ?? {};
  if ((cert === undefined) !== (key === undefined)) {
    return fail("printed only one of clientCertificateData and clientKeyData");
  }
  if (typeof token !== "string" && typeof cert !== "string") {
    return fail("printed neither a token nor a client certificate");
  }
  const expiresAt =
    expirationTimestamp === undefined ? Number.POSITIVE_INFINITY : Date.parse(`${expirationTimestamp}`);
  if (Number.isNaN(expiresAt))
    return fail(`printed the expirationTimestamp "${expirationTimestamp}", which is not a date`);
  return {
    credential: {
      token: typeof token === "string" ? token : undefined,
      tls: typeof cert === "string" ? { cert, key: `${key}` } : {},
    },
    expiresAt,
  };
}

function quote(stderr: string): string {
  const text = stderr.replace(/\s+/g, " ").trim();
  return text === "" ? "" : `, stderr: ${text.length > 400 ? `…${text.slice(-400)}` : text}`;
}
