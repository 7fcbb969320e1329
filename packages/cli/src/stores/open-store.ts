/** Opens the lock that a URL names. Only the package of the store in question is loaded. */
import { readFile } from "node:fs/promises";
import { ElectionError } from "@tenure/election";
import type { OperableLock } from "@tenure/election/internal";
import type { EtcdLockOptions } from "@tenure/etcd";
import { CliError } from "../errors.ts";
import type { Platform } from "../platform.ts";
import { isLockUrl, type LockUrlFlags, parseLockUrl, type StorePlace } from "./lock-url.ts";

/** Does not contact the store. Rejects if the URL cannot be used. @param flags with a URL in `lock` */
export async function openStoreLock(
  flags: LockUrlFlags,
  name: string,
  platform: Platform,
): Promise<OperableLock> {
  const { lock = "", lockListen } = flags;
  try {
    return await open(parseLockUrl(lock), name, lockListen, platform);
  } catch (error) {
    if (error instanceof ElectionError) throw new CliError("Usage", error.message, { cause: error });
    throw error;
  }
}

async function open(
  place: StorePlace,
  name: string,
  listenUrl: string | undefined,
  platform: Platform,
): Promise<OperableLock> {
  if (place.store === "postgres") {
    const { PostgresLock } = await load(() => import("@tenure/postgres"), "@tenure/postgres");
    const { url, table } = place;
    return new PostgresLock({
      name,
      url,
      ...(table !== undefined && { table }),
      ...(isLockUrl(listenUrl) && { listenUrl }),
    });
  }
  const { EtcdLock } = await load(() => import("@tenure/etcd"), "@tenure/etcd");
  const { prefix } = place;
  return new EtcdLock({
    name,
    ...(await etcdAccess(place, platform)),
    ...(prefix !== undefined && { prefix }),
  });
}

/** Where etcd is, and how to be admitted. */
export async function etcdAccess(
  place: Extract<StorePlace, { store: "etcd" }>,
  platform: Platform,
): Promise<Omit<EtcdLockOptions, "name" | "prefix">> {
  const { endpoints, files } = place;
  const username = place.username ?? (platform.env("ETCD_USERNAME") || undefined);
  const password = place.password ?? (await passwordFrom(platform));
  const [ca, cert, key] = await Promise.all([files.cacert, files.cert, files.key].map(readPem));
  const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  return {
    endpoints,
    ...(username !== undefined && { username }),
    ...(username !== undefined && password !== undefined && { password }),
    ...(Object.keys(tls).length > 0 && { tls }),
  };
}

async function passwordFrom(platform: Platform): Promise<string | undefined> {
  const file = platform.env("ETCD_PASSWORD_FILE");
  if (file) return (await read(file, "ETCD_PASSWORD_FILE")).replace(/\r?\n$/, "");
  return platform.env("ETCD_PASSWORD") || undefined;
}

async function readPem(path: string | undefined): Promise<string | undefined> {
  return path === undefined ? undefined : read(path, "a file of the URL");
}

async function read(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new CliError(
      "Usage",
      `Cannot read ${what}: ${(error as Error).message}. Correct the path, or the rights of the file`,
      { cause: error },
    );
  }
}

/** The packages of the stores are optional: an election on Kubernetes needs neither. */
async function load<T>(importPackage: () => Promise<T>, name: string): Promise<T> {
  try {
    return await importPackage();
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new CliError(
      "Usage",
      `Cannot use --lock: the package ${name} is not installed. Run npm install ${name}`,
      {
        cause: error,
      },
    );
  }
}
