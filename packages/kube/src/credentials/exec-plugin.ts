/**
 * Credentials from an exec plugin (aws, gke-gcloud-auth-plugin, kubelogin, …): client.authentication.k8s.io v1 and v1beta1.
 * Upholds: one run at a time, shared by all who wait; kept until it expires or the server refuses it; what the plugin
 * prints to stdout is secret and never quoted. It does not write anything to disk.
 */
import type { TlsMaterial } from "../config.ts";
import { KubeError, systemCode } from "../errors.ts";
import type { Platform } from "../platform.ts";

export type ExecConfig = {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly installHint: string | undefined;
  readonly interactiveMode: string | undefined;
  /** What the plugin is told about the cluster, if it asked for it. */
  readonly cluster: object | undefined;
  /** For messages. */
  readonly user: string;
};

export type ExecCredential = {
  readonly token: string | undefined;
  readonly tls: TlsMaterial;
};

/** Long enough for a person to log in with a browser. */
const limitMs = 60_000;
const maxOutputBytes = 1024 * 1024;
const group = "client.authentication.k8s.io";

export type ExecPlugin = {
  get(): Promise<ExecCredential>;
  /** The next `get` runs the plugin. */
  forget(): void;
};

/** Throws at once for a configuration that can never work. */
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
      return cached !== undefined && platform.now() < cached.expiresAt ? cached.credential : start();
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
        `Cannot use the ${label}: its interactiveMode is "Always" and there is no terminal. Use a plugin that needs nobody, or a token.`,
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
  const cancelTimer = platform.setTimer(
    () => limit.abort(new Error(`it did not end within ${limitMs / 1000} s`)),
    limitMs,
  );
  try {
    const result = await platform.run(config.command, config.args, {
      env,
      interactive,
      maxBytes: maxOutputBytes,
      signal: limit.signal,
    });
    if (result.exitCode === 0) return result;
    const how = result.exitCode === null ? "was killed" : `ended with exit code ${result.exitCode}`;
    throw new KubeError("ExecPlugin", `Cannot get credentials: the ${label} ${how}${quote(result.stderr)}.`);
  } catch (error) {
    if (error instanceof KubeError) throw error;
    const isMissing = systemCode(error) === "ENOENT";
    const hint = isMissing && config.installHint ? ` ${config.installHint.trim()}` : "";
    const why = isMissing ? "is not installed, or not in PATH" : `failed: ${(error as Error).message}`;
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
    // Neither the text nor the parser's error is kept: both may show a part of a token.
    return fail(stdout.trim() === "" ? "printed nothing" : "did not print JSON");
  }
  if (typeof parsed !== "object" || parsed?.kind !== "ExecCredential")
    return fail("did not print an ExecCredential");
  if (parsed.apiVersion !== config.apiVersion) {
    return fail(`printed apiVersion "${parsed.apiVersion}" where the kubeconfig says "${config.apiVersion}"`);
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
    return fail(`printed the expirationTimestamp "${expirationTimestamp}", which is no time`);
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
  return text === "" ? "" : ` and said: ${text.length > 400 ? `…${text.slice(-400)}` : text}`;
}
