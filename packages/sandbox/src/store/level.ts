/**
 * Keeps the store on disk, in LevelDB. All objects are also in memory; the disk is read only at start. A commit is
 * acknowledged after it is synced, so neither kill -9 nor a power failure loses it. The revision is written together
 * with the objects, so it never goes back.
 */
import { SandboxError } from "../errors.ts";
import { makePrivate } from "./data-directory.ts";
import type { Journal } from "./local-store.ts";
import type { StoreContent } from "./memory-index.ts";

/** These keys sort before the keys of objects, which begin with a slash. */
const revisionKey = "!revision";
const formatKey = "!format";
const currentFormat = "tenure-sandbox/1";

/** The part of LevelDB that the journal uses. */
export interface Database {
  readonly status: string;
  open(): Promise<void>;
  close(): Promise<void>;
  get(key: string): Promise<string | undefined>;
  put(key: string, value: string, options: { sync: boolean }): Promise<void>;
  batch(changes: Change[], options: { sync: boolean }): Promise<void>;
}

type Change = { type: "del"; key: string } | { type: "put"; key: string; value: string };

export async function openLevel(dataDir: string): Promise<{ journal: Journal; content: StoreContent }> {
  const { ClassicLevel } = await import("classic-level");
  let db: InstanceType<typeof ClassicLevel<string, string>>;
  try {
    await makePrivate(dataDir);
    // The constructor starts to open the database, so the directory has to be private before.
    db = new ClassicLevel<string, string>(dataDir);
    await db.open();
    await makePrivate(dataDir);
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
  return { content, journal: levelJournal(db as Database) };
}

export function levelJournal(db: Database): Journal {
  return {
    write(entries) {
      const changes = entries.map(
        ({ key, json }): Change =>
          json === undefined ? { type: "del", key } : { type: "put", key, value: json },
      );
      const revision = String(entries.at(-1)?.revision);
      return db.batch([...changes, { type: "put", key: revisionKey, value: revision }], { sync: true });
    },
    async recover() {
      // LevelDB rejects every write after a failed one. To open it again reads what was stored.
      if (db.status === "open") await db.close();
      await db.open();
      const revision = (await db.get(revisionKey)) ?? "1";
      await db.put(revisionKey, revision, { sync: true });
      return Number(revision);
    },
    close: () => db.close(),
  };
}

function openError(dataDir: string, error: unknown): SandboxError {
  if (error instanceof SandboxError) return error;
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
