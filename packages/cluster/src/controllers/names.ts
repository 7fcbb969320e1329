/** Names that controllers generate. */

/** The characters of generated names: without vowels, so that they form no words. */
const alphabet = "bcdfghjklmnpqrstvwxz2456789";
const suffixLength = 5;
/** With its suffix, a generated name has at most 63 characters. */
const longestBase = 58;

/** A name as the API server generates it from generateName. */
export function generatedName(base: string, random: () => number): string {
  const suffix = Array.from(
    { length: suffixLength },
    () => alphabet[Math.floor(random() * alphabet.length)],
  ).join("");
  return `${base.slice(0, longestBase)}${suffix}`;
}

/** A short hash of a text, in the characters of generated names. It is FNV-1a, as in Kubernetes. */
export function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return [...String(hash)].map((digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join("");
}

/** A value as text, with sorted keys and without what means the same as nothing. Equal objects have equal texts. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(canonical(value)) ?? "null";
}

/** A value with sorted keys and without what means the same as nothing. */
export function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .filter(([, item]) => item !== null && item !== undefined && !(Array.isArray(item) && item.length === 0))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, canonical(item)]));
}
