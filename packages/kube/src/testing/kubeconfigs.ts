/** Kubeconfigs for tests, and a function that loads one on a fake platform. */
import { loadConfig } from "../load-config.ts";
import { FakePlatform } from "./fake-platform.ts";

export const base64 = (text: string): string => Buffer.from(text).toString("base64");

type Parts = { cluster?: string; user?: string; context?: string; rest?: string };

/** A kubeconfig with these fields in flow style. */
export const kubeconfig = ({
  cluster = "server: https://api",
  user = "token: t",
  context = "",
  rest = "",
}: Parts = {}): string => `
apiVersion: v1
kind: Config
clusters:
- {name: c, cluster: {${cluster}}}
users:
- {name: u, user: {${user}}}
contexts:
- {name: x, context: {cluster: c, user: u${context}}}
current-context: x
${rest}
`;

export async function loadText(
  text: string,
  options: { context?: string; files?: Record<string, string> } = {},
) {
  const platform = new FakePlatform();
  platform.files.set("/dir/config", text);
  for (const [path, content] of Object.entries(options.files ?? {})) platform.files.set(path, content);
  const config = await loadConfig({ kubeconfig: "/dir/config", context: options.context, platform });
  return { config, platform, headers: () => config.credentials.headers() };
}
