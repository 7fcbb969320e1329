/**
 * Turns a user entry of a kubeconfig into `Credentials`: token, tokenFile, client certificate, username and password, exec
 * plugin, impersonation. A field that is not supported is reported as a problem, never ignored.
 */
import type { Credentials, TlsMaterial } from "../config.ts";
import type { ExecPlugin } from "../credentials/exec-plugin.ts";
import { type RotatingFile, rotatingFile } from "../credentials/rotating-file.ts";
import type { Platform } from "../platform.ts";
import type { Fields } from "./fields.ts";

type UserContext = {
  readonly user: string;
  readonly platform: Platform;
  /** Makes a path relative to the kubeconfig absolute. */
  resolvePath(path: string): string;
  /** The cluster, for an exec plugin with provideClusterInfo. */
  readonly clusterInfo: () => object;
};

type Pem = Pick<RotatingFile, "read" | "forget" | "problem">;

export async function credentialsOf(fields: Fields, context: UserContext): Promise<Credentials> {
  if (fields.has("auth-provider")) rejectAuthProvider(fields);
  const staticToken = fields.string("token");
  const tokenFile = fileField(fields, "tokenFile", "the token", context, staticToken);
  const cert = pem(fields, "client-certificate", context);
  const key = pem(fields, "client-key", context);
  if ((cert === undefined) !== (key === undefined)) {
    fields.problem(
      `it has a ${cert ? "client-certificate but no client-key" : "client-key but no client-certificate"}`,
    );
  }
  // Report a missing file now, not at the first renewal.
  for (const file of [tokenFile, cert, key]) await fields.attempt(() => file?.read());
  const basic = basicHeader(fields);
  const impersonation = impersonationHeaders(fields);
  // As in client-go, the plugin does not run if there are other credentials.
  const hasOtherCredentials = staticToken !== undefined || tokenFile !== undefined || basic !== undefined;
  const plugin =
    fields.has("exec") && !hasOtherCredentials ? await pluginOf(fields.nested("exec"), context) : undefined;

  return {
    async headers() {
      const token = tokenFile ? await tokenFile.read() : (staticToken ?? (await plugin?.get())?.token);
      const authorization = token === undefined ? basic : `Bearer ${token}`;
      return { ...impersonation, ...(authorization && { authorization }) };
    },
    async tls(): Promise<TlsMaterial> {
      if (cert && key) return { cert: await cert.read(), key: await key.read() };
      return (await plugin?.get())?.tls ?? {};
    },
    async refresh() {
      for (const source of [tokenFile, cert, key, plugin]) source?.forget();
    },
    problem: () => tokenFile?.problem() ?? cert?.problem() ?? key?.problem(),
  };
}

function rejectAuthProvider(fields: Fields): void {
  const name = fields.nested("auth-provider").string("name") ?? "";
  const plugin = { gcp: "gke-gcloud-auth-plugin", azure: "kubelogin", oidc: "kubectl oidc-login" }[name];
  fields.unsupported(
    `auth-provider "${name}" is not supported, because Kubernetes has removed it. ` +
      `Use an exec plugin${plugin ? ` such as ${plugin}` : ""}, a token or a client certificate`,
  );
}

function fileField(
  fields: Fields,
  name: string,
  what: string,
  context: UserContext,
  fallback?: string | undefined,
): RotatingFile | undefined {
  const path = fields.string(name);
  if (path === undefined) return undefined;
  return rotatingFile({ path: context.resolvePath(path), what, platform: context.platform, fallback });
}

function pem(fields: Fields, name: string, context: UserContext): Pem | undefined {
  if (!fields.has(`${name}-data`)) return fileField(fields, name, `the ${name}`, context);
  const text = fields.pemData(`${name}-data`) ?? "";
  return { read: async () => text, forget: () => {}, problem: () => undefined };
}

function basicHeader(fields: Fields): string | undefined {
  const username = fields.string("username");
  if (username === undefined) return undefined;
  return `Basic ${Buffer.from(`${username}:${fields.string("password") ?? ""}`).toString("base64")}`;
}

function impersonationHeaders(fields: Fields): Record<string, string | string[]> {
  const user = fields.string("as");
  const uid = fields.string("as-uid");
  const groups = fields.strings("as-groups");
  if (fields.has("as-user-extra")) fields.unsupported("as-user-extra is not supported. Remove it");
  if (user === undefined && (uid !== undefined || groups.length > 0))
    fields.problem("as-groups and as-uid require as");
  return {
    ...(user && { "impersonate-user": user }),
    ...(uid && { "impersonate-uid": uid }),
    ...(groups.length > 0 && { "impersonate-group": groups }),
  };
}

async function pluginOf(fields: Fields, context: UserContext): Promise<ExecPlugin | undefined> {
  const command = fields.string("command");
  if (command === undefined) {
    fields.problem("command is missing");
    return undefined;
  }
  const env = fields.list("env").map((item) => {
    const { name, value } = (item ?? {}) as { name?: unknown; value?: unknown };
    if (typeof name !== "string" || typeof value !== "string")
      fields.problem("every item of env must have a name and a value");
    return { name: String(name), value: String(value) };
  });
  const { execPlugin } = await import("../credentials/exec-plugin.ts");
  return fields.attempt(() =>
    execPlugin(
      {
        apiVersion: fields.string("apiVersion") ?? "",
        // A bare name is looked up in PATH. Any other path is relative to the kubeconfig.
        command: /[\\/]/.test(command) ? context.resolvePath(command) : command,
        args: fields.strings("args"),
        env,
        installHint: fields.string("installHint"),
        interactiveMode: fields.string("interactiveMode"),
        cluster: fields.boolean("provideClusterInfo") ? context.clusterInfo() : undefined,
        user: context.user,
      },
      context.platform,
    ),
  );
}
