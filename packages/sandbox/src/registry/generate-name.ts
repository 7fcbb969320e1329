/**
 * Generates names for objects that have only a generateName. Five letters make 14 million names, so a name is
 * occasionally taken. Another name is then tried, as Kubernetes does. After eight taken names the client gets an error.
 */
import { type ApiObject, withMetadata } from "../objects/object.ts";
import { ApiError } from "../objects/status.ts";
import type { Platform } from "../platform.ts";

/** Without vowels, so that names contain no words. */
const alphabet = "bcdfghjklmnpqrstvwxz2456789";
const suffixLetters = 5;
/** Together with the suffix this is 63, the limit for labels. */
const maxPrefixLetters = 58;
const maxAttempts = 8;

/** Calls `create` with a generated name, and again with another one if the name is taken. */
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
      if (attempt === maxAttempts || !isTaken(error)) throw error;
    }
  }
}

function generate(prefix: string, platform: Pick<Platform, "randomBytes">): string {
  return `${prefix.slice(0, maxPrefixLetters)}${randomSuffix(platform)}`;
}

export function randomSuffix(platform: Pick<Platform, "randomBytes">): string {
  return [...platform.randomBytes(suffixLetters)].map((byte) => alphabet[byte % alphabet.length]).join("");
}

function isTaken(error: unknown): boolean {
  return error instanceof ApiError && error.status.reason === "AlreadyExists";
}
