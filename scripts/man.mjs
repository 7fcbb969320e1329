// @ts-check
// Generates the manual pages from the declarations of the commands, into packages/cli/man. `npm run build` does it:
//   node scripts/man.mjs
// npm installs them with the package, so that `man tenure` and `man tenure-run` work.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { helpOf, helpPlatform, leaves, pathOf } from "./reference.mjs";

/** @typedef {import("commander").Command} Command */

/** Escapes text for roff. A hyphen is a minus sign there, so that a flag can be searched for and copied. @param {string} text */
const escaped = (text) =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("…", "...")
    .replaceAll("→", "\\->")
    .replace(/^([.'])/gm, "\\&$1");

/** @param {Command} command */
const nameOf = (command) => (command.parent ? `tenure-${pathOf(command).replaceAll(" ", "-")}` : "tenure");

/** @param {Command} command @param {string} version */
export function manPage(command, version) {
  const help = command.createHelp();
  const name = nameOf(command);
  const title = command.parent ? `tenure ${pathOf(command)}` : "tenure";
  const described = command.description().replace(/\.$/, "");
  const subcommands = help.visibleCommands(command).filter((each) => each.name() !== "help");
  const synopsis = help.commandUsage(command).replace(/^tenure( |$)/, "");
  const lines = [
    `.\\" Written by scripts/man.mjs. Change the declarations, not this page.`,
    `.TH "${name.toUpperCase()}" "1" "" "tenure ${version}" "tenure"`,
    `.SH NAME\n${escaped(name)} \\- ${escaped(described)}`,
    `.SH SYNOPSIS\n.B tenure\n${escaped(synopsis)}`,
    ...(command.aliases().length > 0 ? [`.SH ALIASES\n${escaped(command.aliases().join(", "))}`] : []),
    ...argumentSection(command),
    ...optionSections(command),
    ...(subcommands.length > 0
      ? [
          ".SH COMMANDS",
          ...subcommands.map(
            (each) => `.TP\n.B ${escaped(`${title} ${each.name()}`)}\n${escaped(each.description())}.`,
          ),
        ]
      : []),
    ...afterHelp(command),
    ...seeAlso(command, subcommands),
  ];
  return `${lines.join("\n")}\n`;
}

/** @param {Command} command */
function argumentSection(command) {
  const rows = command.registeredArguments.filter(({ description }) => description);
  if (rows.length === 0) return [];
  return [
    ".SH ARGUMENTS",
    ...rows.map((each) => {
      const choices = each.argChoices ? `: ${each.argChoices.join(", ")}` : "";
      return `.TP\n.I ${escaped(each.name())}\n${escaped(each.description + choices)}.`;
    }),
  ];
}

/** @param {Command} command */
function optionSections(command) {
  const help = command.createHelp();
  const groups = new Map();
  for (const option of help.visibleOptions(command)) {
    const heading = option.helpGroupHeading ?? "Options:";
    groups.set(heading, [...(groups.get(heading) ?? []), option]);
  }
  return [...groups].flatMap(([heading, options]) => [
    `.SH ${escaped(heading.replace(/:$/, "").toUpperCase())}`,
    ...options.map(
      (/** @type {import("commander").Option} */ option) =>
        `.TP\n.B ${escaped(option.flags)}\n${escaped(help.optionDescription(option))}.`,
    ),
  ]);
}

/** The text after the options. A line that ends with a colon is a heading. @param {Command} command */
function afterHelp(command) {
  const text = helpOf(command).slice(command.helpInformation().length).trim();
  if (text === "") return [];
  return [".SH DETAILS", ".nf", escaped(text).replace(/\n\n+/g, "\n.sp\n"), ".fi"];
}

/** @param {Command} command @param {readonly Command[]} subcommands */
function seeAlso(command, subcommands) {
  const names = [...(command.parent ? [nameOf(command.parent)] : []), ...subcommands.map(nameOf)];
  if (names.length === 0) return [];
  const refs = names.map((name) => `.BR ${escaped(name)} (1)`);
  return [".SH SEE ALSO", ...refs.map((ref, index) => (index < refs.length - 1 ? `${ref} ,` : ref))];
}

/** @param {Command} program @param {string} version @returns {Record<string, string>} */
export function manPages(program, version) {
  return Object.fromEntries(
    [program, ...leaves(program)].map((command) => [`${nameOf(command)}.1`, manPage(command, version)]),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { declareProgram } = await import("../packages/cli/dist/command-line.js");
  const cli = fileURLToPath(new URL("../packages/cli/", import.meta.url));
  const { version } = JSON.parse(await readFile(`${cli}package.json`, "utf8"));
  await rm(`${cli}man`, { recursive: true, force: true });
  await mkdir(`${cli}man`);
  const program = await declareProgram(/** @type {any} */ (helpPlatform));
  for (const [file, text] of Object.entries(manPages(program, version)))
    await writeFile(`${cli}man/${file}`, text);
}
