/**
 * JSON as the API server writes it. Go escapes characters that HTML gives a meaning to. Kubernetes' controllers compare the data of
 * ControllerRevisions byte by byte: without the escapes they would never find the revision of a template with "a && b".
 */
const escapes: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/** In JSON these characters occur only in strings. */
export const escapeJson = (json: string): string =>
  json.replace(/[<>&\u2028\u2029]/g, (character) => escapes[character] as string);

export const jsonText = (value: unknown): string => escapeJson(JSON.stringify(value));
