/** Rules for names, labels and keys. Each rule returns its problems, in the wording of k8s.io/apimachinery. */

export type NameRule = (name: string, prefix?: boolean) => string[];

const bytes = (text: string) => Buffer.byteLength(text);

const compiled = new Map<string, RegExp>();

function wholePattern(pattern: string): RegExp {
  const known = compiled.get(pattern);
  if (known) return known;
  const whole = new RegExp(`^(?:${pattern})$`);
  compiled.set(pattern, whole);
  return whole;
}

function matches(text: string, pattern: string, message: string, ...examples: string[]): string[] {
  if (wholePattern(pattern).test(text)) return [];
  const e = examples.map((example) => `'${example}', `).join(" or ");
  return [`${message} (${e ? `e.g. ${e}` : ""}regex used for validation is '${pattern}')`];
}

const maxBytes = (text: string, limit: number) =>
  bytes(text) > limit ? [`must be no more than ${limit} bytes`] : [];

const maxCharacters = (text: string, limit: number) =>
  text.length > limit ? [`must be no more than ${limit} characters`] : [];

const labelPattern = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomainPattern = `${labelPattern}(\\.${labelPattern})*`;
const qualifiedPattern = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

/** A generateName may end in a dash, because letters are appended to it. */
const masked = (name: string, prefix?: boolean) =>
  prefix && name.length > 1 && name.endsWith("-") ? `${name.slice(0, -1)}a` : name;

export const isDnsSubdomain: NameRule = (name, prefix) => [
  ...maxCharacters(masked(name, prefix), 253),
  ...matches(
    masked(name, prefix),
    subdomainPattern,
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    "example.com",
  ),
];

export const isDnsLabel: NameRule = (name, prefix) => [
  ...maxCharacters(masked(name, prefix), 63),
  ...(name.includes(".")
    ? ["must not contain dots"]
    : matches(
        masked(name, prefix),
        labelPattern,
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
        "my-name",
        "123-abc",
      )),
];

/** The minimal rule for all names: a name is a segment of a path. */
export const isPathSegment: NameRule = (name, prefix) => {
  if (!prefix && (name === "." || name === "..")) return [`may not be '${name}'`];
  return ["/", "%"].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
};

export const isConfigMapKey: NameRule = (key) => [
  ...maxCharacters(key, 253),
  ...matches(
    key,
    "[-._a-zA-Z0-9]+",
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    "key.name",
    "KEY_NAME",
    "key-name",
  ),
  ...(key === "."
    ? ["must not be '.'"]
    : key === ".."
      ? ["must not be '..'"]
      : key.startsWith("..")
        ? ["must not start with '..'"]
        : []),
];

const qualifiedMessage =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/** Keys of labels and annotations, and finalizers: `name` or `dns.subdomain/name`. */
export function isQualifiedName(key: string): string[] {
  const parts = key.split("/");
  const examples = ["MyName", "my.name", "123-abc"];
  if (parts.length > 2) {
    const [message] = matches("", qualifiedPattern, qualifiedMessage, ...examples);
    return [
      `a valid label key ${message} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) as string;
  const problems: string[] = [];
  if (parts.length === 2) {
    const [prefix] = parts as [string, string];
    problems.push(
      ...(prefix === "" ? ["must be non-empty"] : isDnsSubdomain(prefix)).map((why) => `prefix part ${why}`),
    );
  }
  if (name === "") problems.push("name part must be non-empty");
  else if (bytes(name) > 63) problems.push("name part must be no more than 63 bytes");
  return [
    ...problems,
    ...matches(name, qualifiedPattern, qualifiedMessage, ...examples).map((why) => `name part ${why}`),
  ];
}

export function isLabelValue(value: string): string[] {
  return [
    ...maxBytes(value, 63),
    ...matches(
      value,
      `(${qualifiedPattern})?`,
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      "MyValue",
      "my_value",
      "12345",
    ),
  ];
}

/** Names of container ports, as in /etc/services. */
export function isPortName(name: string): string[] {
  const problems: string[] = [];
  if (name.length > 15) problems.push("must be no more than 15 characters");
  if (!/^[-a-z0-9]+$/.test(name))
    problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!/[a-z]/.test(name)) problems.push("must contain at least one letter (a-z)");
  if (name.includes("--")) problems.push("must not contain consecutive hyphens");
  if (name.startsWith("-") || name.endsWith("-")) problems.push("must not begin or end with a hyphen");
  return problems;
}
