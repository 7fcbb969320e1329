/** `tenure ui` as a process, and replicas of `tenure run` beside it. */
import type { Browser, Page } from "playwright-core";
import { freePorts } from "../kube/ports.mjs";
import { type Running, start } from "../processes/operate/commands.ts";
import { type Replica, startTenure } from "../processes/run/replicas.ts";
import { newPage } from "./browser.ts";

/** Short, so that a lost lease does not take long. */
const timings = [
  "--lease-duration",
  "4s",
  "--renew-deadline",
  "2.5s",
  "--retry-period",
  "500ms",
  "--cooldown",
  "1s",
];

export interface Member {
  readonly id: string;
  readonly url: string;
  readonly process: Replica;
}

/** Starts replicas one after the other, so that the first one leads. */
export async function startMembers(
  kubeconfig: string,
  election: string,
  ids: readonly string[],
): Promise<Member[]> {
  const ports = await freePorts(ids.length);
  const members: Member[] = [];
  for (const [index, id] of ids.entries()) {
    const address = `127.0.0.1:${ports[index]}`;
    const args = [
      "run",
      "--kubeconfig",
      kubeconfig,
      "--lease-lock-name",
      election,
      "--lease-lock-namespace",
      "default",
    ];
    const process = startTenure([
      ...args,
      "--id",
      id,
      "--status",
      address,
      ...timings,
      "--",
      "sleep",
      "1000",
    ]);
    if (index === 0) await process.logged("phase", { phase: "leader" });
    members.push({ id, url: `http://${address}`, process });
  }
  return members;
}

export interface Ui {
  readonly command: Running;
  /** The address with its one-time token. */
  readonly url: string;
  readonly origin: string;
}

export async function startUi(args: readonly string[]): Promise<Ui> {
  const command = start(["ui", ...args]);
  const line = await command.line(/^Open /);
  const url = line.replace("Open ", "");
  return { command, url, origin: new URL(url).origin };
}

export async function openUi(browser: Browser, { url }: Ui): Promise<{ page: Page; errors: string[] }> {
  const opened = await newPage(browser);
  await opened.page.goto(url);
  await opened.page.locator(".connection.up").waitFor();
  return opened;
}
