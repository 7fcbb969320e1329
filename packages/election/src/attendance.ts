/** Shows a candidate to operators while it takes part. It performs the effects of core's machine and decides nothing itself. */
import type { Clock } from "@tenure/base";
import {
  type AttendanceEffect,
  type AttendanceEvent,
  type AttendanceState,
  type Failure,
  initialAttendance,
  nextAttendanceMs,
  type Standing,
  stepAttendance,
} from "@tenure/core";
import type { CandidateRegistry } from "./lock.ts";
import { SideRequests } from "./side-requests.ts";

export interface AttendanceParts {
  readonly registry: CandidateRegistry;
  readonly identity: string;
  readonly clock: Clock;
  /** Called once if the permission is missing. */
  readonly onReport: (failure: Failure) => void;
}

export class Attendance {
  readonly #requests: SideRequests<AttendanceState, AttendanceEvent, AttendanceEffect>;

  constructor({ registry, identity, clock, onReport }: AttendanceParts) {
    this.#requests = new SideRequests({
      initial: initialAttendance,
      clock,
      step: (state, event) => stepAttendance(state, event, clock.now().monoMs),
      nextMs: nextAttendanceMs,
      perform: (effect) => {
        const nowMs = clock.now().wallMs;
        switch (effect.type) {
          case "publish": {
            const candidate = { identity, standing: effect.standing, renewMs: nowMs };
            return (signal) => registry.publish(candidate, signal);
          }
          case "withdraw":
            return (signal) => registry.withdraw(identity, signal);
          case "sweep":
            return (signal) => registry.sweep(nowMs, signal);
          case "report":
            onReport(effect.failure);
            return undefined;
          case "gone":
            return "gone";
        }
      },
    });
  }

  start(): void {
    this.#requests.send({ type: "start" });
  }

  standing(standing: Standing): void {
    this.#requests.send({ type: "standing", standing });
  }

  /** Resolves when the candidate has been removed, or soon if that does not succeed. Never rejects. */
  stop(): Promise<void> {
    return this.#requests.stop();
  }
}
