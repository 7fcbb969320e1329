// @ts-check
// Writes docs/reference from the declarations of the commands, so that it says what the commands do. A test fails when a page
// is stale; then:
//   npm run build && node scripts/reference.mjs
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/**
 * @typedef {import("commander").Command} Command
 * @typedef {import("commander").Option} Option
 * @typedef {{ name: string, type: string, labels: readonly string[], help: string }} Metric
 */

/** Commands that read nothing but what is typed. */
const withoutEnvironment = ["manifests", "sandbox"];

/** Variables that are no flags. A test keeps this list complete. */
export const variables = {
  "Who and where this replica is": {
    POD_NAME:
      "the identity, unless `--id` or `identity` is given; the pod that is labelled or named. By the downward API: `metadata.name`",
    NAMESPACE: "the namespace, unless it is given. By the downward API: `metadata.namespace`",
    POD_NAMESPACE: "the same; `NAMESPACE` wins for the lock, `POD_NAMESPACE` for the pod",
    POD_IP: "the address for `--service`. By the downward API: `status.podIP`",
    POD_UID: "told in the EndpointSlice, if it is set: `metadata.uid`",
    NODE_NAME: "told in the EndpointSlice, if it is set: `spec.nodeName`",
  },
  "Which cluster": {
    KUBECONFIG: "paths of kubeconfigs, as kubectl reads them",
    KUBERNETES_SERVICE_HOST: "set by Kubernetes in a pod: the API server",
    KUBERNETES_SERVICE_PORT: "set by Kubernetes in a pod: its port",
    TENURE_SERVICEACCOUNT_DIR:
      "where token, ca.crt and namespace are, if not in `/var/run/secrets/kubernetes.io/serviceaccount`",
    HOME: "for `~/.kube/config` and `~/.tenure/sandbox.kubeconfig`; `USERPROFILE` on Windows",
    USERPROFILE: "see `HOME`",
    HTTPS_PROXY: "the proxy to the API server, as client-go reads it; `proxy-url` in a kubeconfig wins",
    HTTP_PROXY: "see `HTTPS_PROXY`",
    NO_PROXY: "see `HTTPS_PROXY`",
    PATH: "where credential plugins and the command of `tenure run` are looked for",
  },
  "How it is shown": {
    NO_COLOR: "no colours",
    TERM: "`dumb` for no colours and no live view",
  },
};

/** What `tenure run` gives to the child. */
export const childVariables = ["TENURE_IDENTITY", "TENURE_ELECTION", "TENURE_TOKEN", "TENURE_DEADLINE_FILE"];

/** @param {Option} option */
const nameOf = ({ long, short }) => (long ?? short ?? "").replace(/^-+/, "");

/** @param {string} text */
const cell = (text) => text.replaceAll("|", "\\|").replaceAll("\n", " ");

/** @param {Command} command @returns {Command[]} */
function leaves(command) {
  return command.commands.flatMap((each) => (each.name() === "help" ? [] : [each, ...leaves(each)]));
}

/** @param {Command} command @returns {string} as it is typed, without `tenure` */
const pathOf = (command) =>
  command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();

/** @param {Command} command */
const hasEnvironment = (command) => !withoutEnvironment.includes(pathOf(command).split(" ")[0] ?? "");

/** @param {Option} option */
const variableOf = (option) => `TENURE_${nameOf(option).replaceAll("-", "_").toUpperCase()}`;

/** @param {Command} command */
const visible = (command) => command.options.filter((option) => !option.hidden);

/** Meaning and default; some say their default in words. @param {Option} option */
function described(option) {
  const [, words = option.description, inWords = ""] =
    /^([\s\S]*?)\s*\(default: ((?:[^()]|\([^()]*\))*)\)$/.exec(option.description) ?? [];
  const fallback = option.defaultValue;
  const shown =
    fallback === undefined || fallback === true
      ? inWords
      : `\`${JSON.stringify(fallback).replaceAll('"', "")}\``;
  const choices = option.argChoices
    ? ` One of ${option.argChoices.map((choice) => `\`${choice}\``).join(", ")}.`
    : "";
  return {
    meaning: cell(words + (choices && words ? `.${choices}` : choices.trim())),
    fallback: cell(shown),
  };
}

/** @param {Command} program */
export function flagsPage(program) {
  const parts = leaves(program).map((command) => {
    const isGroup = command.commands.length > 0 && visible(command).length === 0;
    const args = command.registeredArguments.map((each) => {
      const name = each.variadic ? `${each.name()}...` : each.name();
      return each.required ? `<${name}>` : `[${name}]`;
    });
    const withVariable = hasEnvironment(command);
    const rows = visible(command).map((option) => {
      const { meaning, fallback } = described(option);
      const required = option.mandatory ? "(needed)" : fallback;
      const variable = withVariable ? ` \`${variableOf(option)}\` |` : "";
      return `| \`${cell(option.flags)}\` | ${meaning} | ${required} |${variable}`;
    });
    const head = withVariable
      ? "| flag | meaning | default | variable |\n|---|---|---|---|"
      : "| flag | meaning | default |\n|---|---|---|";
    return [
      `## tenure ${pathOf(command)}`,
      `${command.description()}.`,
      ...(isGroup
        ? []
        : [
            `\`${["tenure", pathOf(command), ...(rows.length > 0 ? ["[options]"] : []), ...args].join(" ")}\``,
          ]),
      ...(rows.length > 0 ? [[head, ...rows].join("\n")] : []),
    ].join("\n\n");
  });
  return page(
    "Every flag",
    "`tenure COMMAND --help` says the same, with examples. A flag wins over its variable, that over the file of `--config` where there is one, and that over the default.",
    ...parts,
  );
}

/** What is printed by --help, without line breaks of its own. @param {Command} command */
function helpOf(command) {
  let text = "";
  command.configureOutput({ writeOut: (more) => (text += more) });
  command.outputHelp();
  return text;
}

/** @param {Command} command @returns {[string, string][]} */
function exitCodesOf(command) {
  const [, rest = "", block = ""] = /Exit codes:(.*)\n((?: {2}\S.*\n)*)/.exec(`${helpOf(command)}\n`) ?? [];
  const lines = block ? block.trimEnd().split("\n") : rest.trim().replace(/\.$/, "").split("; ");
  return lines
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, code = "", meaning = line.trim()] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
      return [code || "other", meaning];
    });
}

/** @param {Command} program */
export function exitCodesPage(program) {
  /** @type {[string, string][]} */
  const usual = [
    ["0", "done"],
    ["1", "it could not be done; one sentence on stderr says why"],
    ["2", "what was typed is wrong; one sentence on stderr says what"],
  ];
  const table = (/** @type {[string, string][]} */ rows) =>
    [
      "| code | meaning |",
      "|---|---|",
      ...rows.map(([code, meaning]) => `| ${code} | ${cell(meaning)} |`),
    ].join("\n");
  const special = leaves(program)
    .map((command) => ({ command, rows: exitCodesOf(command) }))
    .filter(({ rows }) => rows.length > 0);
  return page(
    "Exit codes",
    "Of every command that is not named below:",
    table(usual),
    ...special.map(({ command, rows }) => `## tenure ${pathOf(command)}\n\n${table(rows)}`),
  );
}

/** @param {Command} program */
export function environmentPage(program) {
  /** @type {Map<string, Set<string>>} */
  const byVariable = new Map();
  for (const command of leaves(program).filter(hasEnvironment)) {
    for (const option of visible(command)) {
      const name = variableOf(option);
      byVariable.set(name, (byVariable.get(name) ?? new Set()).add(pathOf(command)));
    }
  }
  const flags = [...byVariable.keys()].sort().map((name) => {
    const flag = `--${name
      .replace(/^TENURE_/, "")
      .toLowerCase()
      .replaceAll("_", "-")}`;
    return `| \`${name}\` | \`${flag}\` | ${[...(byVariable.get(name) ?? [])].join(", ")} |`;
  });
  const run = program.commands.find((command) => command.name() === "run");
  const help = run ? helpOf(run) : "";
  const child = childVariables.map((name) => {
    const [, meaning = ""] = new RegExp(`^ +${name} +(.*)$`, "m").exec(help) ?? [];
    return `| \`${name}\` | ${cell(meaning)} |`;
  });
  return page(
    "Environment",
    ...Object.entries(variables).map(([title, list]) =>
      [
        `## ${title}`,
        "",
        "| variable | meaning |",
        "|---|---|",
        ...Object.entries(list).map(([name, meaning]) => `| \`${name}\` | ${cell(meaning)} |`),
      ].join("\n"),
    ),
    ["## What the child of `tenure run` finds", "", "| variable | meaning |", "|---|---|", ...child].join(
      "\n",
    ),
    [
      "## Flags",
      "",
      "Set to nothing is not set. A switch takes `true` or `false`; a list is separated by commas.",
      "",
      "| variable | flag | of |",
      "|---|---|---|",
      ...flags,
    ].join("\n"),
  );
}

/** @param {readonly Metric[]} metrics */
export function metricsPage(metrics) {
  return page(
    "Metrics",
    "Served at `/metrics` if `--status` is set, and provided by `PrometheusMetrics` of @tenure/status. Every metric has the label `name`, the name of the election.",
    [
      "| metric | type | more labels | meaning |",
      "|---|---|---|---|",
      ...metrics.map(
        ({ name, type, labels, help }) =>
          `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(", ")} | ${cell(help)} |`,
      ),
    ].join("\n"),
  );
}

/** @param {string} title @param {...string} parts */
function page(title, ...parts) {
  return `# ${title}\n\n<!-- Written by scripts/reference.mjs. Change the declarations, not this page. -->\n\n${parts.join("\n\n")}\n`;
}

/** @param {Command} program @param {readonly Metric[]} metrics @returns {Record<string, string>} */
export function pages(program, metrics) {
  return {
    "flags.md": flagsPage(program),
    "exit-codes.md": exitCodesPage(program),
    "environment.md": environmentPage(program),
    "metrics.md": metricsPage(metrics),
  };
}

/** Whose paths in help texts must not be those of the machine that wrote the page. */
export const nobody = {
  args: [],
  env: () => undefined,
  environment: () => ({}),
  homeDirectory: () => "~",
  isTerminal: false,
  out: () => {},
  err: () => {},
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { declareProgram } = await import("../packages/cli/dist/run.js");
  const { metricsCatalogue } = await import("../packages/status/dist/internal.js");
  const folder = fileURLToPath(new URL("../docs/reference/", import.meta.url));
  const program = declareProgram(/** @type {any} */ (nobody));
  for (const [file, text] of Object.entries(pages(program, metricsCatalogue)))
    await writeFile(folder + file, text);
}
