import { systemRandom } from "@tenure/base";
import type { Platform } from "../../../platform.ts";

/** Different for every process, also for two with the same host name. */
export function componentIdentity(platform: Pick<Platform, "hostName">): string {
  const suffix = Math.floor(systemRandom() * 2 ** 32)
    .toString(16)
    .padStart(8, "0");
  return `${platform.hostName()}-${suffix}`;
}
