// @ts-check
/** @tenure/election, with other defaults. */
import { Election as RealElection } from "@tenure/election";

export * from "@tenure/election";

const timings = { leaseDuration: "3s", renewDeadline: "2s", retryPeriod: "300ms", renewInterval: "400ms" };

export class Election extends RealElection {
  /** @param {import("@tenure/election").ElectionOptions} options */
  constructor(options) {
    super({ ...timings, ...options });
  }
}
