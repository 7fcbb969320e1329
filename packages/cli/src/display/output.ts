/** The option `-o`. JSON and YAML have the same data, for programs. */
import { InvalidArgumentError, Option } from "commander";

export type OutputFormat = "json" | "yaml" | "wide";

/** @param formats the formats besides plain text */
export function outputOption(formats: readonly OutputFormat[]): Option {
  return new Option(
    "-o, --output <format>",
    `output format: ${formats.join(", ")} (default: plain text)`,
  ).argParser((value) => {
    if (!(formats as readonly string[]).includes(value))
      throw new InvalidArgumentError(`Allowed: ${formats.join(", ")}.`);
    return value;
  });
}

export async function serialize(format: "json" | "yaml", value: unknown): Promise<string> {
  if (format === "json") return `${JSON.stringify(value, undefined, 2)}\n`;
  const { dump } = await import("js-yaml");
  // Through JSON first, because js-yaml would write undefined values as null.
  return dump(JSON.parse(JSON.stringify(value)), { lineWidth: 120 });
}
