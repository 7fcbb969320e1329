/**
 * Names for objects that come with a generateName only. Five letters leave 14 million names, so that now and then one
 * is picked that is there already: another one is tried then, as Kubernetes does.
 *
 * Does not promise a name: after so many that are taken, the client is told to come back.
 */
import { type ApiObject, withMetadata } from "../objects/object.ts";
import { ApiError } from "../objects/status.ts";
import type { Platform } from "../platform.ts";

/** Letters that make no words. */
const alphabet = "bcdfghjklmnpqrstvwxz2456789";
const suffixLetters = 5;
/** With the letters it makes 63, the most that a label may have. */
const mostPrefixLetters = 58;
const mostAttempts = 8;

/** Calls `create` with a name in the object; again with another one where it was refused since the name is taken. */
export async function withGeneratedName<T>(
  object: ApiObject,
  platform: Pick<Platform, "randomBytes">,
  create: (named: ApiObject) => Promise<T>,
): Promise<T> {
  const { name, generateName } = object.metadata;
  if (name || !generateName) return create(object);
  for (let attempt = 1; ; attempt++) {
    try {
      return await create(withMetadata(object, { name: generate(generateName, platform) }));
    } catch (error) {
      if (attempt === mostAttempts || !isTaken(error)) throw error;
    }
  }
}

function generate(prefix: string, platform: Pick<Platform, "randomBytes">): string {
  const letters = [...platform.randomBytes(suffixLetters)].map((byte) => alphabet[byte % alphabet.length]);
  return `${prefix.slice(0, mostPrefixLetters)}${letters.join("")}`;
}

function isTaken(error: unknown): boolean {
  return error instanceof ApiError && error.status.reason === "AlreadyExists";
}
