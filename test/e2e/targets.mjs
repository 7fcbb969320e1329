// @ts-check
/**
 * The clusters on which the specs run. Each proves another part: the whole of tenure, tenure's API under Kubernetes' own
 * controllers and scheduler, and tenure's controllers and scheduler on Kubernetes' own API.
 */
import { constants } from "node:fs";
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { findExecutable, folders } from "../kube/assets.mjs";
import { startCleanupProcess } from "../kube/cleanup-process.mjs";
import { startCluster } from "../kube/cluster.mjs";
import { freePorts } from "../kube/ports.mjs";
import { startProcess } from "../kube/process.mjs";
import { tail } from "../kube/ready.mjs";

/**
 * @typedef {object} Target
 * @property {string} kubeconfig the administrator's
 * @property {string} folder with the logs
 * @property {(name: string, command: string, args: string[]) => Promise<void>} run runs a program to its end
 * @property {() => Promise<void>} interrupt ends what run() runs; e2e.test then reports what it knows
 * @property {(options: { keepLogs: boolean }) => Promise<void>} stop
 *
 * @typedef {object} Running what a target starts its programs with
 * @property {string} folder
 * @property {(name: string, args: string[]) => Promise<void>} tenure starts the command
 * @property {(name: string, command: string, args: string[]) => Promise<void>} start
 * @property {(name: string, expression: RegExp) => Promise<void>} logs waits for a line in the log of a program
 * @property {(task: () => Promise<void>) => void} onStop
 */

const main = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));
const readyMs = 60_000;
const nodes = 3;

/** @type {Readonly<Record<string, (running: Running, programs: import("./programs.mjs").Programs) => Promise<string>>>} */
const starters = {
  tenure: async ({ folder, tenure, logs }, programs) => {
    const kubeconfig = join(folder, "kubeconfig");
    await tenure("sandbox", [...sandboxFlags(kubeconfig), ...(await imageFlags(folder, programs))]);
    await logs("sandbox", /"ready"/);
    return kubeconfig;
  },

  "kubernetes-controllers": async ({ folder, tenure, start, logs }, programs) => {
    const kubeconfig = join(folder, "kubeconfig");
    const without = ["--controllers", "none", "--scheduler", "none"];
    await tenure("sandbox", [
      ...sandboxFlags(kubeconfig),
      ...without,
      ...(await imageFlags(folder, programs)),
    ]);
    await logs("sandbox", /"ready"/);
    await startControllerManager({ start, logs }, programs, kubeconfig, "*");
    const [port] = await freePorts(1);
    await start("kube-scheduler", programs.scheduler, [
      `--kubeconfig=${kubeconfig}`,
      "--bind-address=127.0.0.1",
      `--secure-port=${port}`,
      "--kube-api-content-type=application/json",
    ]);
    await logs("kube-scheduler", /successfully acquired lease/i);
    return kubeconfig;
  },

  "kube-apiserver": async ({ folder, tenure, start, logs, onStop }, programs) => {
    // Some Jobs of the specs are privileged, which clusters usually allow.
    const apiServerFlags = ["--service-cluster-ip-range=10.96.0.0/16", "--allow-privileged=true"];
    const cluster = await startCluster({ apiServerFlags });
    onStop(() => cluster.stop());
    const kubeconfig = cluster.kubeconfigPath;
    // What the sandbox does in its API, and a kube-apiserver leaves to kube-controller-manager.
    const controllers = ["namespace-controller", "garbage-collector-controller", "serviceaccount-controller"];
    await startControllerManager({ start, logs }, programs, kubeconfig, controllers.join(","));
    const access = ["--kubeconfig", kubeconfig, "--log-format", "json"];
    await tenure("controllers", ["sandbox", "controllers", ...access]);
    await tenure("scheduler", ["sandbox", "scheduler", ...access]);
    await Promise.all([logs("controllers", /"leading"/), logs("scheduler", /"leading"/)]);
    const images = await imageFlags(folder, programs);
    const names = Array.from({ length: nodes }, (_, index) => `node-${index + 1}`);
    for (const [index, name] of names.entries()) {
      // One proxy for Services is enough on one machine.
      const services = index === 0 ? [] : ["--no-services"];
      await tenure(name, [
        "sandbox",
        "node",
        "--name",
        name,
        "--isolation",
        "network",
        ...access,
        ...services,
        ...images,
      ]);
    }
    await Promise.all(names.map((name) => logs(name, /"ready"/)));
    return kubeconfig;
  },
};

export const targetNames = Object.keys(starters);

/** @param {string} kubeconfig */
const sandboxFlags = (kubeconfig) => [
  "sandbox",
  ...["--port", "0", "--nodes", String(nodes), "--isolation", "network"],
  ...["--kubeconfig-out", kubeconfig, "--log-format", "json"],
];

/**
 * The images of the specs. Agnhost is a folder with the program and the files of its image, and pauses without arguments, as its image
 * does. Of the others, the specs need only a program that answers on port 80, or a shell.
 *
 * @param {string} folder
 * @param {import("./programs.mjs").Programs} programs
 */
async function imageFlags(folder, { agnhost, agnhostFiles }) {
  const image = join(folder, "agnhost");
  await mkdir(image, { recursive: true });
  await copyFile(agnhost, join(image, "agnhost"), constants.COPYFILE_FICLONE);
  const entry = `#!/bin/sh\nexec '${join(image, "agnhost")}' "\${@:-pause}"\n`;
  await writeFile(join(image, "entry"), entry, { mode: 0o755 });
  await writeFile(join(image, "package.json"), JSON.stringify({ scripts: { start: "./entry" } }));
  await addShell(image);
  const nc = `#!/bin/sh\nexec '${process.execPath}' '${join(image, "nc.mjs")}' "$@"\n`;
  await copyFile(fileURLToPath(new URL("nc.mjs", import.meta.url)), join(image, "nc.mjs"));
  await writeFile(join(image, "bin", "nc"), nc, { mode: 0o755 });
  const rootfs = join(image, "rootfs");
  await mkdir(rootfs);
  for (const file of agnhostFiles) await copyFile(file, join(rootfs, basename(file)));
  const busybox = join(folder, "busybox");
  await addShell(busybox);
  await writeFile(join(busybox, "package.json"), JSON.stringify({ scripts: { start: "sh" } }));
  const server = `${agnhost} netexec --http-port=80`;
  return ["--image", `agnhost=${image}`, `httpd=${server}`, `nginx=${server}`, `busybox=${busybox}`];
}

/**
 * Some specs use [[ ]] in the shell of busybox. The shell of the machine may not know it, but bash does.
 *
 * @param {string} image
 */
async function addShell(image) {
  await mkdir(join(image, "bin"), { recursive: true });
  const bash = await findExecutable("bash", folders(process.env));
  if (bash) await symlink(bash, join(image, "bin", "sh"));
}

/**
 * @param {Pick<Running, "start" | "logs">} running
 * @param {import("./programs.mjs").Programs} programs
 * @param {string} kubeconfig
 * @param {string} controllers
 */
async function startControllerManager({ start, logs }, programs, kubeconfig, controllers) {
  const [port] = await freePorts(1);
  await start("kube-controller-manager", programs.controllerManager, [
    `--kubeconfig=${kubeconfig}`,
    `--controllers=${controllers}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    "--kube-api-content-type=application/json",
    "--use-service-account-credentials=false",
  ]);
  await logs("kube-controller-manager", /successfully acquired lease/i);
}

/**
 * @param {string} name one of targetNames
 * @param {import("./programs.mjs").Programs} programs
 * @returns {Promise<Target>}
 */
export async function startTarget(name, programs) {
  const starter = starters[name];
  if (!starter)
    throw new Error(`There is no target ${JSON.stringify(name)}; choose from ${targetNames.join(", ")}`);
  const folder = await mkdtemp(join(tmpdir(), "tenure-e2e-"));
  const cleanup = await startCleanupProcess(folder);
  /** @type {Map<string, import("../kube/process.mjs").ServerProcess>} */
  const processes = new Map();
  /** @type {Set<import("../kube/process.mjs").ServerProcess>} */
  const runs = new Set();
  /** @type {(() => Promise<void>)[]} */
  const stopTasks = [];
  /** @param {string} name */
  const logFileOf = (name) => join(folder, `${name}.log`);

  /** @type {Running["start"]} */
  const start = async (name, command, args) => {
    const options = { name, command, args, logFile: logFileOf(name), home: folder, cleanup };
    processes.set(name, await startProcess(options));
  };
  /** @type {Target["run"]} */
  const run = async (name, command, args) => {
    const options = { name, command, args, logFile: logFileOf(name), home: folder, cleanup };
    const started = await startProcess(options);
    runs.add(started);
    await started.exited;
    runs.delete(started);
  };
  /** @type {Running["logs"]} */
  const logs = async (name, expression) => {
    const deadline = performance.now() + readyMs;
    while (!expression.test(await readFile(logFileOf(name), "utf8"))) {
      const exited = processes.get(name)?.hasExited();
      if (exited || performance.now() > deadline) {
        const why = exited ? "it exited" : `it did not print ${expression} within ${readyMs} ms`;
        throw new Error(`Cannot start ${name}: ${why}. The end of its log:\n${await tail(logFileOf(name))}`);
      }
      await delay(25);
    }
  };
  const interrupt = async () => {
    await Promise.all([...runs].map((process) => process.end("SIGINT")));
  };
  /** @type {Target["stop"]} */
  const stop = async ({ keepLogs }) => {
    // Nodes and sandbox stop by themselves, so that it is seen if they cannot.
    await Promise.all([...processes.values()].reverse().map((process) => process.end("SIGTERM")));
    for (const task of stopTasks) await task();
    if (keepLogs) cleanup.keepFolder();
    else await rm(folder, { recursive: true, force: true });
    await cleanup.end();
  };
  try {
    const running = {
      folder,
      start,
      logs,
      /** @type {Running["tenure"]} */
      tenure: (name, args) => start(name, process.execPath, [main, ...args]),
      /** @param {() => Promise<void>} task */
      onStop: (task) => void stopTasks.push(task),
    };
    const kubeconfig = await starter(running, programs);
    return { kubeconfig, folder, run, interrupt, stop };
  } catch (error) {
    await stop({ keepLogs: false });
    throw error;
  }
}
