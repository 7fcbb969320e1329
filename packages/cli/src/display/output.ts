/** The option `-o`. JSON, YAML and JSONPath have the same data, for programs. */
import { nearest, type Problem, quote } from "@tenure/base";
import { InvalidArgumentError, Option } from "commander";
import { parseJsonPath, printJsonPath } from "./json-path.ts";

/** `jsonpath` stands for `jsonpath=TEMPLATE`. */
export type OutputFormat = "json" | "yaml" | "wide" | "name" | "jsonpath";

/** The formats that print data for programs, without a table or a description. */
export type DataFormat = "json" | "yaml" | `jsonpath=${string}`;

const jsonPathPrefix = "jsonpath=";

/** @param formats the formats besides plain text */
export function outputOption(formats: readonly OutputFormat[]): Option {
  return new Option("-o, --output <format>", "output format (default: plain text)")
    .choices(formats.map(nameOf))
    .argParser((value) => {
      const problem = outputProblem(value, formats);
      if (!problem) return value;
      const allowed = `Allowed: ${formats.map(nameOf).join(", ")}`;
      throw new InvalidArgumentError(problem.fix ? `${allowed}; ${problem.fix}` : `${allowed}.`);
    });
}

const nameOf = (format: OutputFormat) => (format === "jsonpath" ? "jsonpath=TEMPLATE" : format);

/** What is wrong with a value of -o, if anything. commander checks only the command line, not the environment. */
export function outputProblem(
  value: string | undefined,
  formats: readonly OutputFormat[] = ["json", "yaml", "wide", "name", "jsonpath"],
): Problem | undefined {
  if (value === undefined) return undefined;
  const template = templateOf(value);
  if (template !== undefined && formats.includes("jsonpath")) {
    const parsed = parseJsonPath(template);
    return "problem" in parsed
      ? { field: "output", rule: "must be a JSONPath template", fix: parsed.problem, value: quote(template) }
      : undefined;
  }
  if (value !== "jsonpath" && (formats as readonly string[]).includes(value)) return undefined;
  const meant = nearest(value, formats);
  const hint = meant === undefined || meant === value ? {} : { fix: `did you mean ${meant}?` };
  const rule = `must be one of ${formats.map(nameOf).join(", ")}`;
  return { field: "output", rule, value: quote(value), ...hint };
}

function templateOf(value: string): string | undefined {
  return value.startsWith(jsonPathPrefix) ? value.slice(jsonPathPrefix.length) : undefined;
}

/** Whether this format prints data, which `serialize` does. */
export function isData(format: string | undefined): format is DataFormat {
  return format === "json" || format === "yaml" || format?.startsWith(jsonPathPrefix) === true;
}

export async function serialize(format: DataFormat, value: unknown): Promise<string> {
  // Through JSON first: undefined values are absent in every format, and js-yaml would write them as null.
  const plain: unknown = JSON.parse(JSON.stringify(value));
  if (format === "json") return `${JSON.stringify(plain, undefined, 2)}\n`;
  const template = templateOf(format);
  if (template !== undefined) return printJsonPath(template, plain);
  const { dump } = await import("js-yaml");
  return dump(plain, { lineWidth: 120 });
}

/** One value of a stream of values, as `kubectl get -w` prints them: JSON on one line, YAML as a document. */
export async function serializeNext(format: DataFormat, value: unknown): Promise<string> {
  if (format === "json") return `${JSON.stringify(value)}\n`;
  const text = await serialize(format, value);
  return format === "yaml" ? `---\n${text}` : text;
}
