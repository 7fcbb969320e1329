// @ts-check
// Generates docs/reference from the declarations of the commands. A test fails if a page is out of date. To update:
//   npm run build && node scripts/reference.mjs
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/**
 * @typedef {import("commander").Command} Command
 * @typedef {import("commander").Option} Option
 * @typedef {{ name: string, type: string, labels: readonly string[], help: string }} Metric
 * @typedef {import("../packages/cli/src/log/events.ts").EventFacts} EventFacts
 * @typedef {{ lineFields: EventFacts["fields"], logEvents: Readonly<Record<string, EventFacts>> }} LogFormat
 */

/** Commands that do not read settings from the environment. */
const withoutEnvironment = ["manifests", "sandbox", "completion"];

/** Variables that do not belong to a flag. A test keeps this list complete. */
export const variables = {
  "Identity and location of this replica": {
    POD_NAME:
      "identity of the candidate, unless `--id` or `identity` is set (without all three: the name of the host and a random suffix), and name of the pod to label. Set it with the downward API: `metadata.name`",
    NAMESPACE: "namespace, unless a flag sets it. Set it with the downward API: `metadata.namespace`",
    POD_NAMESPACE: "the same; for the lock `NAMESPACE` has precedence, for the pod `POD_NAMESPACE`",
    POD_IP: "address for `--service`. Set it with the downward API: `status.podIP`",
    POD_UID: "written to the EndpointSlice, if set. From the downward API: `metadata.uid`",
    NODE_NAME: "written to the EndpointSlice, if set. From the downward API: `spec.nodeName`",
  },
  Cluster: {
    KUBECONFIG: "paths of kubeconfigs, as for kubectl",
    KUBERNETES_SERVICE_HOST: "host of the API server; Kubernetes sets it in a pod",
    KUBERNETES_SERVICE_PORT: "port of the API server; Kubernetes sets it in a pod",
    TENURE_SERVICEACCOUNT_DIR:
      "directory with token, ca.crt and namespace, instead of `/var/run/secrets/kubernetes.io/serviceaccount`",
    HOME: "home directory for `~/.kube/config` and `~/.tenure/sandbox.kubeconfig`; `USERPROFILE` on Windows",
    USERPROFILE: "see `HOME`",
    HTTPS_PROXY: "proxy for the API server, as for client-go; `proxy-url` in a kubeconfig has precedence",
    HTTP_PROXY: "see `HTTPS_PROXY`",
    NO_PROXY: "see `HTTPS_PROXY`",
    PATH: "search path for credential plugins and for the command of `tenure run`",
  },
  "Stores of --lock and --store": {
    TENURE_STORE: "etcd of `tenure sandbox`, unless `--store` is given; may contain a password",
    PGPASSWORD:
      "password for `postgres://`; `PGPASSFILE` and the other variables of libpq work too, such as `PGUSER` and `PGHOST`",
    ETCD_USERNAME: "user name for `etcd://`, if the URL has none",
    ETCD_PASSWORD: "password for `etcd://`, if the URL has none",
    ETCD_PASSWORD_FILE: "file with that password; has precedence over `ETCD_PASSWORD`",
  },
  Output: {
    NO_COLOR: "if set, output has no colours",
    TERM: "with the value `dumb`, output has no colours",
  },
};

/** Variables that `tenure run` sets for the child. */
export const childVariables = [
  ...["TENURE_IDENTITY", "TENURE_ELECTION", "TENURE_TOKEN", "TENURE_DEADLINE_FILE"],
  ...["TENURE_SHARD", "TENURE_SHARD_COUNT", "TENURE_SHARD_RANGE", "TENURE_SHARD_SELECTOR", "TENURE_PERMIT"],
];

/** @param {Option} option */
const nameOf = ({ long, short }) => (long ?? short ?? "").replace(/^-+/, "");

/** @param {string} text */
const cell = (text) => text.replaceAll("|", "\\|").replaceAll("\n", " ");

/** @param {Command} command @returns {Command[]} */
export function leaves(command) {
  return command.commands.flatMap((each) => (each.name() === "help" ? [] : [each, ...leaves(each)]));
}

/** @param {Command} command @returns {string} the command without `tenure` */
export const pathOf = (command) =>
  command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();

/** @param {Command} command */
const hasEnvironment = (command) => !withoutEnvironment.includes(pathOf(command).split(" ")[0] ?? "");

/** @param {Option} option */
const variableOf = (option) => `TENURE_${nameOf(option).replaceAll("-", "_").toUpperCase()}`;

/** @param {Command} command */
const visible = (command) => command.options.filter((option) => !option.hidden);

/** Meaning and default, which some options have in their description. @param {Option} option */
function described(option) {
  const [, text = option.description, describedDefault = ""] =
    /^([\s\S]*?)\s*\(default: ((?:[^()]|\([^()]*\))*)\)$/.exec(option.description) ?? [];
  const fallback = option.defaultValue;
  const shown =
    fallback === undefined || fallback === true
      ? describedDefault
      : `\`${JSON.stringify(fallback).replaceAll('"', "")}\``;
  const choices = option.argChoices
    ? ` One of ${option.argChoices.map((choice) => `\`${choice}\``).join(", ")}.`
    : "";
  return {
    meaning: cell(text + (choices && text ? `.${choices}` : choices.trim())),
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
      const required = option.mandatory ? "(required)" : fallback;
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
    "Flags",
    "`tenure COMMAND --help` prints the same, with examples. A flag overrides its variable, the variable overrides the file of `--config`, if the command has that flag, and the file overrides the default.",
    ...parts,
  );
}

/** The output of --help. @param {Command} command */
export function helpOf(command) {
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
    ["0", "success"],
    ["1", "failure; stderr has the reason"],
    ["2", "wrong usage; stderr has the reason"],
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
    "Of every command that is not listed below:",
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
    const [, meaning = ""] = new RegExp(`^ {2}${name} +(.*)$`, "m").exec(help) ?? [];
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
    ["## Environment of the child of `tenure run`", "", "| variable | meaning |", "|---|---|", ...child].join(
      "\n",
    ),
    [
      "## Flags",
      "",
      "An empty variable counts as not set. A flag without a value takes `true` or `false`. A list is separated by commas.",
      "",
      "| variable | flag | commands |",
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

/** @param {LogFormat} log */
export function logPage({ lineFields, logEvents }) {
  const rows = (/** @type {EventFacts["fields"]} */ fields) =>
    Object.entries(fields).map(
      ([name, [type, about]]) =>
        `| \`${name}\` | ${cell(type.replace("?", "").replace("|", " or "))}${type.endsWith("?") ? ", optional" : ""} | ${cell(about)} |`,
    );
  const head = ["| field | type | meaning |", "|---|---|---|"];
  return page(
    "JSON log",
    "The format of the lines that `tenure run`, `sidecar`, `elect` and the components of `tenure sandbox` log with `--log-format json`, which is the default where the log is not a terminal. `tenure run` logs to stderr, the others to stdout. Each line is one JSON object. [log.schema.json](log.schema.json) is the same as a JSON Schema. Fields and events are never renamed or removed within a major version; new ones may be added.",
    "## Every line",
    [...head, ...rows(lineFields)].join("\n"),
    ...Object.entries(logEvents).map(([event, { about, fields }]) =>
      [
        `## ${event}`,
        `${about[0]?.toUpperCase()}${about.slice(1)}.`,
        ...(Object.keys(fields).length > 0 ? [[...head, ...rows(fields)].join("\n")] : []),
      ].join("\n\n"),
    ),
  );
}

/** @param {LogFormat} log */
export function logSchema({ lineFields, logEvents }) {
  /** @param {string} type */
  const schemaOf = (type) =>
    type === "number[]"
      ? { type: "array", items: { type: "number" } }
      : { type: type.includes("|") ? type.split("|") : type };
  /** @param {EventFacts["fields"]} fields */
  const object = (fields) => ({
    properties: Object.fromEntries(
      Object.entries(fields).map(([name, [type, description]]) => [
        name,
        { ...schemaOf(type.replace("?", "")), description },
      ]),
    ),
    required: Object.entries(fields).flatMap(([name, [type]]) => (type.endsWith("?") ? [] : [name])),
  });
  const { properties, required } = object(lineFields);
  const names = Object.keys(logEvents);
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "A line of the JSON log of tenure",
    type: "object",
    properties: {
      ...properties,
      level: { ...properties.level, enum: ["info", "warn", "error"] },
      event: { ...properties.event, enum: names },
    },
    required,
    allOf: Object.entries(logEvents).map(([event, { about, fields }]) => ({
      if: { properties: { event: { const: event } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { description: about, ...object(fields) },
    })),
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

/** @param {Command} program @param {readonly Metric[]} metrics @param {LogFormat} log @returns {Record<string, string>} */
export function pages(program, metrics, log) {
  return {
    "flags.md": flagsPage(program),
    "exit-codes.md": exitCodesPage(program),
    "environment.md": environmentPage(program),
    "metrics.md": metricsPage(metrics),
    "log.md": logPage(log),
    "log.schema.json": logSchema(log),
  };
}

/** A platform for help texts, without the paths of the machine that generates the page. */
export const helpPlatform = {
  args: [],
  env: () => undefined,
  environment: () => ({}),
  homeDirectory: () => "~",
  isTerminal: false,
  out: () => {},
  err: () => {},
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { declareProgram } = await import("../packages/cli/dist/command-line.js");
  const log = await import("../packages/cli/dist/log/events.js");
  const { metricsCatalogue } = await import("../packages/status/dist/internal.js");
  const folder = fileURLToPath(new URL("../docs/reference/", import.meta.url));
  const program = await declareProgram(/** @type {any} */ (helpPlatform));
  for (const [file, text] of Object.entries(pages(program, metricsCatalogue, log)))
    await writeFile(folder + file, text);
}
