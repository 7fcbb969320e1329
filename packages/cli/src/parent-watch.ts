/**
 * Notices that npm, which started this process, has ended. A signal to npx or `npm run` alone ends npm and its shell, but does not
 * reach this process, which would go on as a leader that nobody knows of.
 */
import { after } from "@tenure/base";
import type { Platform } from "./platform.ts";

const checkEveryMs = 500;

/**
 * Calls back when one of the processes between npm and this one ends. Does nothing if npm did not start this process: a daemon
 * outlives its parents on purpose.
 * @returns a function that stops watching
 */
export function watchParent(platform: Platform, onGone: () => void): () => void {
  if (platform.env("npm_command") === undefined) return () => {};
  const first = platform.parents();
  if (first[0] === 1) return () => {};
  let cancel = () => {};
  const check = () => {
    const now = platform.parents();
    if (first.every((pid, index) => pid === now[index]))
      cancel = after(platform.backgroundClock, checkEveryMs, check);
    else onGone();
  };
  check();
  return () => cancel();
}
