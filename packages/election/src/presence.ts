/**
 * What a candidate writes beside the lock while it takes part: for operators, the Lease that shows it; for the API server of a
 * coordinated election, its LeaseCandidate.
 */
import { asError, type Clock, sleep } from "@tenure/base";
import type { Config, Failure, Standing } from "@tenure/core";
import { Attendance } from "./attendance.ts";
import { Candidacy } from "./candidacy.ts";
import { unavailableMessage } from "./coordinated-options.ts";
import type { ErrorReports } from "./error-reports.ts";
import { ElectionError, notShownMessage } from "./errors.ts";
import type { ElectionOptions } from "./options.ts";

interface PresenceParts {
  readonly options: ElectionOptions;
  readonly config: Config;
  readonly clock: Clock;
  readonly random: () => number;
  readonly errors: ErrorReports;
}

export class Presence {
  readonly #parts: PresenceParts;
  readonly #attendance: Attendance | undefined;
  #candidacy: Candidacy | undefined;
  #standing: Standing | undefined;

  constructor(parts: PresenceParts) {
    this.#parts = parts;
    const { options, config, clock, errors } = parts;
    const { lock, register = true } = options;
    if (!register || !lock.candidates) return;
    const onReport = (failure: Failure) => errors.once(notShownMessage(failure.message));
    this.#attendance = new Attendance({
      registry: lock.candidates,
      identity: config.identity,
      clock,
      onReport,
    });
  }

  /** Whether the standing of the candidate has to be reported here. */
  get needsStanding(): boolean {
    return this.#attendance !== undefined || this.#candidacy !== undefined;
  }

  /**
   * The configuration for the candidate: with or without coordination. Waits until the API server says whether it supports that. Rejects
   * if it does not, and undefined if the signal aborts.
   */
  async configure(signal: AbortSignal): Promise<Config | undefined> {
    const { options, config, clock, random, errors } = this.#parts;
    const { coordinated, lock } = options;
    this.#candidacy = undefined;
    if (!coordinated || !lock.coordination) return config;
    const isServed = await this.#isServed(signal);
    if (isServed === undefined) return undefined;
    if (!isServed) {
      if (coordinated.whenUnavailable === "elect") {
        errors.once(`The election of ${lock.description} is not coordinated: ${unavailableMessage}`);
        return config;
      }
      const cannot = `Cannot take part in the coordinated election of ${lock.description}`;
      throw new ElectionError("NotCoordinated", `${cannot}: ${unavailableMessage}.`);
    }
    const { version, emulationVersion = version, strategy = "OldestEmulationVersion" } = coordinated;
    this.#candidacy = new Candidacy({
      coordination: lock.coordination,
      candidate: { identity: config.identity, version, emulationVersion, strategy },
      clock,
      random,
      onFailure: (failure) =>
        errors.request(new Error(`Cannot renew the LeaseCandidate: ${failure.message}`), failure),
    });
    return { ...config, coordinated: true };
  }

  start(): void {
    this.#standing = undefined;
    this.#attendance?.start();
  }

  standing(standing: Standing): void {
    this.#standing = standing;
    this.#attendance?.standing(standing);
    // The lock is read before the API server may name this candidate, so that it knows whose lease it must wait out.
    if (standing.name !== "starting" && standing.name !== "stopping") this.#candidacy?.start();
  }

  failed(failure: Failure): void {
    this.#attendance?.standing({ name: "failing", reason: failure.message });
  }

  answered(): void {
    if (this.#standing) this.#attendance?.standing(this.#standing);
  }

  /** Calls back when the lock may be released: the API server must not name this candidate again. At once if it cannot. */
  beforeRelease(callback: () => void): void {
    const candidacy = this.#candidacy;
    this.#candidacy = undefined;
    if (candidacy) void candidacy.stop().then(callback);
    else callback();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#candidacy?.stop(), this.#attendance?.stop()]);
    this.#candidacy = undefined;
  }

  async #isServed(signal: AbortSignal): Promise<boolean | undefined> {
    const { options, config, clock, errors } = this.#parts;
    while (!signal.aborted) {
      try {
        return await options.lock.coordination?.isServed(signal);
      } catch (error) {
        if (!signal.aborted) errors.request(asError(error));
        await sleep(clock, config.timings.retryPeriodMs, signal);
      }
    }
    return undefined;
  }
}
