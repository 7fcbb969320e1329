/**
 * Reads fields of parsed YAML and collects every problem, so that one error can name them all. It never quotes a value of the
 * wrong type, because that may be a misplaced secret.
 */
import { KubeError } from "../errors.ts";

export class Problems {
  readonly texts: string[] = [];
  /** `Unsupported` if at least one of them is about something that this client does not support. */
  code: "BadConfig" | "Unsupported" = "BadConfig";

  /** @param subject completes "Cannot use …" */
  throwIfAny(subject: string): void {
    if (this.texts.length === 0) return;
    const list = this.texts.map((text) => text.replace(/\.$/, "")).join("; ");
    throw new KubeError(this.code, `Cannot use ${subject}: ${list}.`);
  }
}

export class Fields {
  readonly #where: string;
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #problems: Problems;

  constructor(value: unknown, where: string, problems: Problems) {
    this.#where = where;
    this.#problems = problems;
    this.#value = isRecord(value) ? value : {};
    if (!isRecord(value) && value !== undefined && value !== null)
      problems.texts.push(`${where} is not a mapping`);
  }

  has(name: string): boolean {
    return this.#value[name] !== undefined && this.#value[name] !== null;
  }

  raw(name: string): unknown {
    return this.#value[name];
  }

  problem(text: string): void {
    this.#problems.texts.push(`${this.#where}: ${text}`);
  }

  unsupported(text: string): void {
    this.#problems.code = "Unsupported";
    this.problem(text);
  }

  /** Calls `work`. A KubeError that it throws becomes a problem of this entry. */
  async attempt<T>(work: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.code === "Unsupported") this.unsupported(error.message);
      else this.problem(error.message);
      return undefined;
    }
  }

  string(name: string): string | undefined {
    if (!this.has(name)) return undefined;
    const value = this.#value[name];
    if (typeof value === "string") return value === "" ? undefined : value;
    this.problem(`${name} must be a string; put it in quotes`);
    return undefined;
  }

  boolean(name: string): boolean {
    if (!this.has(name)) return false;
    const value = this.#value[name];
    if (typeof value !== "boolean") this.problem(`${name} must be true or false`);
    return value === true;
  }

  strings(name: string): string[] {
    return this.list(name).filter((item): item is string => {
      if (typeof item !== "string") this.problem(`every item of ${name} must be a string; put it in quotes`);
      return typeof item === "string";
    });
  }

  list(name: string): unknown[] {
    if (!this.has(name)) return [];
    const value = this.#value[name];
    if (Array.isArray(value)) return value;
    this.problem(`${name} must be a list`);
    return [];
  }

  nested(name: string): Fields {
    return new Fields(this.#value[name], `${this.#where}: ${name}`, this.#problems);
  }

  /** The text of a `…-data` field, which is a PEM in base64. */
  pemData(name: string): string | undefined {
    const encoded = this.string(name);
    if (encoded === undefined) return undefined;
    const text = Buffer.from(encoded, "base64").toString("utf8");
    if (text.includes("-----BEGIN ")) return text;
    this.problem(`${name} is not a PEM in base64`);
    return undefined;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
