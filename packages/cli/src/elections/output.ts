/** `-o json|yaml`: the same data in both, for programs. */
import { InvalidArgumentError, Option } from "commander";

export type OutputFormat = "json" | "yaml" | "wide";

/** @param formats those that the command has besides words for people */
export function outputOption(formats: readonly OutputFormat[]): Option {
  return new Option("-o, --output <format>", `${formats.join(", ")} (default: for people)`).argParser(
    (value) => {
      if (!(formats as readonly string[]).includes(value))
        throw new InvalidArgumentError(`Use ${formats.join(", ")}, or leave it out.`);
      return value;
    },
  );
}

export async function serialize(format: "json" | "yaml", value: unknown): Promise<string> {
  if (format === "json") return `${JSON.stringify(value, undefined, 2)}\n`;
  const { dump } = await import("js-yaml");
  // Through JSON first: what JSON leaves out, YAML must not spell as null.
  return dump(JSON.parse(JSON.stringify(value)), { lineWidth: 120 });
}
