/**
 * The URL of a store that holds the lock instead of Kubernetes:
 * `postgres://USER@HOST1,HOST2/DATABASE?table=tenure_locks`, `etcd://HOST1:2379,HOST2:2379/PREFIX`, and `etcds://` for etcd with
 * TLS. Cheap to load: the packages of the stores are loaded by open-store.ts.
 */
import { oneOfProblem, type Problem, quote } from "@tenure/base";

export interface LockUrlFlags {
  lock?: string;
  lockListen?: string;
}

interface PostgresPlace {
  readonly store: "postgres";
  readonly url: string;
  readonly table: string | undefined;
}

interface EtcdPlace {
  readonly store: "etcd";
  readonly endpoints: readonly string[];
  readonly prefix: string | undefined;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** Paths of PEM files. */
  readonly files: { readonly cacert?: string; readonly cert?: string; readonly key?: string };
}

export type StorePlace = PostgresPlace | EtcdPlace;

const schemes = /^(postgres|postgresql|etcd|etcds):\/\//i;

export function isLockUrl(lock: string | undefined): lock is `${string}://${string}` {
  return lock !== undefined && schemes.test(lock);
}

/** What to show of a value of --lock, which may contain a password. */
export function maskLock(lock: string): string {
  return lock.includes("://") ? `${lock.slice(0, lock.indexOf("://"))}://…` : lock;
}

/** @param nameOf tells where a flag came from: `--lock` itself stands in the process list, for everybody on the machine to read */
export function lockUrlProblems(flags: LockUrlFlags, nameOf: (field: string) => string): Problem[] {
  const { lock, lockListen } = flags;
  const problems: Problem[] = [];
  for (const [field, url] of [
    ["lock", lock],
    ["lockListen", lockListen],
  ] as const) {
    if (isLockUrl(url)) problems.push(...urlProblems(field, url, nameOf));
  }
  if (lockListen !== undefined && !/^postgres/i.test(lock ?? ""))
    problems.push({ field: "lockListen", rule: "needs a postgres:// URL in {lock}" });
  return problems;
}

const variables = { lock: "TENURE_LOCK", lockListen: "TENURE_LOCK_LISTEN", store: "TENURE_STORE" };

/** The problems of the URL of one flag. */
export function urlProblems(
  field: keyof typeof variables,
  url: string,
  nameOf: (field: string) => string,
): Problem[] {
  const problems = parameterProblems(field, url);
  if (parts(url).password !== undefined && nameOf(field).startsWith("--")) {
    problems.unshift({
      field,
      rule: "must not contain a password, because every user of the machine can read the command line",
      fix: `set ${variables[field]} to the URL, or use PGPASSWORD, PGPASSFILE or ETCD_PASSWORD`,
    });
  }
  return problems;
}

/** Reads a URL for which `lockUrlProblems` found nothing wrong. */
export function parseLockUrl(text: string): StorePlace {
  const { scheme, user, password, hosts, path, query } = parts(text);
  if (scheme.startsWith("postgres")) {
    const table = query.get("table") ?? undefined;
    query.delete("table");
    const rest = query.size === 0 ? "" : `?${query}`;
    const [withoutQuery = ""] = text.split("?");
    return { store: "postgres", url: `${withoutQuery}${rest}`, table };
  }
  const protocol = scheme === "etcds" ? "https" : "http";
  const files = Object.fromEntries([...query].filter(([name]) => etcdFiles.includes(name)));
  const prefix = path.replace(/^\/+|\/+$/g, "");
  return {
    store: "etcd",
    endpoints: hosts.map((host) => `${protocol}://${host}`),
    prefix: prefix === "" ? undefined : `/${prefix}/`,
    username: user,
    password,
    files,
  };
}

const etcdFiles = ["cacert", "cert", "key"];

/** An unknown parameter of etcd would be ignored in silence. PostgreSQL has many, and its driver knows them. */
function parameterProblems(field: string, text: string): Problem[] {
  const { scheme, query, hosts } = parts(text);
  const wrong = scheme.startsWith("etcd")
    ? [...query.keys()].find((name) => !etcdFiles.includes(name))
    : undefined;
  return [
    ...(wrong === undefined
      ? []
      : [
          {
            field,
            rule: `must be an etcd URL with the parameters ${etcdFiles.join(", ")} only`,
            value: quote(wrong),
          },
        ]),
    ...(scheme.startsWith("etcd") && hosts.some((host) => host === "")
      ? [{ field, rule: "must name a host: etcd://HOST:2379" }]
      : []),
  ];
}

function parts(text: string) {
  const [, scheme = "", rest = ""] = /^([a-z]+):\/\/(.*)$/is.exec(text) ?? [];
  const [address = "", search = ""] = rest.split(/\?(.*)/s);
  const slash = address.indexOf("/");
  const authority = slash < 0 ? address : address.slice(0, slash);
  const at = authority.lastIndexOf("@");
  const [user, password] = at < 0 ? [] : authority.slice(0, at).split(/:(.*)/s);
  const query = new URLSearchParams(search);
  return {
    scheme: scheme.toLowerCase(),
    user: decode(user),
    password: decode(password) ?? query.get("password") ?? undefined,
    hosts: authority.slice(at + 1).split(","),
    path: slash < 0 ? "" : address.slice(slash),
    query,
  };
}

function decode(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param choices the kinds of locks that the command knows beside a URL */
export function unknownLockProblem(lock: string, choices: readonly string[]): Problem {
  const problem = oneOfProblem("lock", choices, maskLock(lock));
  return { ...problem, rule: `${problem.rule}, or a URL that begins with postgres://, etcd:// or etcds://` };
}
