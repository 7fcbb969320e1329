/**
 * Keeps the store on disk, in LevelDB. All objects are also in memory; the disk is read only at start. A commit is
 * acknowledged after it is synced, so neither kill -9 nor a power failure loses it. The revision is written together
 * with the object, so it never goes back.
 */
import { mkdir } from "node:fs/promises";
import { SandboxError } from "../errors.ts";
import type { Journal, StoreContent } from "./types.ts";

/** These keys sort before the keys of objects, which begin with a slash. */
const revisionKey = "!revision";
const formatKey = "!format";
const currentFormat = "tenure-sandbox/1";

export async function openLevel(dataDir: string): Promise<{ journal: Journal; content: StoreContent }> {
  const { ClassicLevel } = await import("classic-level");
  const db = new ClassicLevel<string, string>(dataDir);
  try {
    // The directory holds the private key of the CA and the administrator token.
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await db.open();
  } catch (error) {
    throw openError(dataDir, error);
  }

  const content: StoreContent = { revision: 1, entries: [] };
  let format: string | undefined;
  for await (const [key, value] of db.iterator()) {
    if (key === revisionKey) content.revision = Number(value);
    else if (key === formatKey) format = value;
    else content.entries.push({ key, json: value });
  }
  const isEmpty = content.entries.length === 0 && format === undefined;
  if (!isEmpty && format !== currentFormat) {
    await db.close();
    const found = format === undefined ? "other data" : `data in the format ${format}`;
    throw new SandboxError(
      "DATA_DIR",
      `Cannot use the data directory ${dataDir} as it holds ${found}: choose another directory`,
    );
  }
  if (isEmpty) await db.put(formatKey, currentFormat, { sync: true });

  return {
    content,
    journal: {
      write({ revision, key, json }) {
        const change =
          json === undefined ? { type: "del" as const, key } : { type: "put" as const, key, value: json };
        return db.batch([change, { type: "put", key: revisionKey, value: String(revision) }], { sync: true });
      },
      close: () => db.close(),
    },
  };
}

function openError(dataDir: string, error: unknown): SandboxError {
  const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
  if (cause?.code === "LEVEL_LOCKED") {
    const text = `Cannot open the data directory ${dataDir} as another process uses it: stop that process, or choose another directory`;
    return new SandboxError("DATA_DIR", text, { cause: error });
  }
  return new SandboxError(
    "DATA_DIR",
    `Cannot open the data directory ${dataDir}: ${cause?.message ?? message}`,
    { cause: error },
  );
}
