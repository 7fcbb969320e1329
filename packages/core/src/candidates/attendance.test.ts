import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Failure } from "../types.ts";
import {
  type AttendanceEvent,
  attendanceTimings,
  initialAttendance,
  nextAttendanceMs,
  stepAttendance,
} from "./attendance.ts";
import type { Standing } from "./standing.ts";

const waiting: Standing = { name: "waiting", reason: "b leads" };
const leading: Standing = { name: "leading", reason: "leads" };
const denied: Failure = { kind: "denied", message: "403" };
const unreachable: Failure = { kind: "unreachable", message: "no route" };

/** Runs the machine by the times that it asks for. */
class Candidate {
  state = initialAttendance;
  nowMs = 0;
  readonly sent: string[] = [];

  send(event: AttendanceEvent): this {
    const { state, effects } = stepAttendance(this.state, event, this.nowMs);
    this.state = state;
    for (const effect of effects) {
      const what = effect.type === "publish" ? `publish ${effect.standing.name}` : effect.type;
      this.sent.push(`${this.nowMs / 1_000} ${what}`);
    }
    return this;
  }

  answer(failure?: Failure): this {
    return this.send({ type: "answer", failure });
  }

  pass(ms: number, onRequest: () => Failure | undefined = () => undefined): this {
    const endMs = this.nowMs + ms;
    for (;;) {
      if (this.state.inFlight !== undefined) {
        this.answer(onRequest());
        continue;
      }
      const wakeMs = nextAttendanceMs(this.state);
      if (wakeMs > endMs) break;
      this.nowMs = Math.max(wakeMs, this.nowMs);
      this.send({ type: "tick" });
    }
    this.nowMs = endMs;
    return this;
  }

  standing(standing: Standing): this {
    return this.send({ type: "standing", standing });
  }
}

const started = () => new Candidate().send({ type: "start" });

describe("a candidate", () => {
  it("is shown as soon as it knows the lock, and then once a minute", () => {
    const candidate = started();
    expect(candidate.sent).toEqual([]);
    candidate.nowMs = 20;
    candidate.standing(waiting).pass(130_000);
    expect(candidate.sent).toEqual([
      "0.02 publish waiting",
      "60.02 publish waiting",
      "120.02 publish waiting",
    ]);
  });

  it("is shown after two seconds even if it does not know the lock, or is still trying", () => {
    expect(started().pass(3_000).sent).toEqual(["2 publish starting"]);
    const acquiring = { name: "acquiring", reason: "nobody leads" } as const;
    expect(started().standing(acquiring).pass(3_000).sent).toEqual(["2 publish acquiring"]);
  });

  it("shows a change half a minute after the last write at the earliest", () => {
    const candidate = started().standing(leading).pass(10_000).standing(waiting).pass(19_999);
    expect(candidate.sent).toEqual(["0 publish leading", "1 sweep"]);
    candidate.pass(1);
    expect(candidate.sent.at(-1)).toBe("30 publish waiting");
  });

  it("shows a change a second later if it was silent for half a minute, so that it is not in the way of a handover", () => {
    const candidate = started().standing(waiting).pass(45_000).standing(leading).pass(999);
    expect(candidate.sent).toEqual(["0 publish waiting"]);
    candidate.pass(100);
    expect(candidate.sent.slice(1)).toEqual(["46 publish leading", "46 sweep"]);
  });

  it("looks for what others left behind when it leads, and every ten minutes", () => {
    const candidate = started().standing(leading).pass(1_300_000);
    expect(candidate.sent.filter((each) => each.endsWith("sweep"))).toEqual([
      "1 sweep",
      "601 sweep",
      "1201 sweep",
    ]);
  });

  it("is removed when it stops, once its successor has had time to acquire the lock", () => {
    const candidate = started().standing(waiting).pass(5_000).send({ type: "stop" }).pass(29);
    expect(candidate.sent).toEqual(["0 publish waiting"]);
    candidate.pass(1);
    expect(candidate.sent.slice(1)).toEqual(["5.03 withdraw", "5.03 gone"]);
    expect(nextAttendanceMs(candidate.state)).toBe(Number.POSITIVE_INFINITY);
  });

  it("is removed after the request in flight has ended, because that may have shown it", () => {
    const candidate = started().standing(waiting).send({ type: "stop" });
    expect(candidate.sent).toEqual(["0 publish waiting"]);
    expect(candidate.answer(unreachable).pass(30).sent.slice(1)).toEqual(["0.03 withdraw", "0.03 gone"]);
  });

  it("is gone at once if it was never shown", () => {
    expect(started().send({ type: "stop" }).sent).toEqual(["0 gone"]);
  });

  it("is gone even if it cannot be removed", () => {
    const candidate = started().standing(waiting).pass(1_000).send({ type: "stop" });
    expect(candidate.pass(30, () => unreachable).sent.slice(1)).toEqual(["1.03 withdraw", "1.03 gone"]);
  });

  it("is shown again in the next run, and not more often than before", () => {
    const candidate = started().standing(waiting).pass(1_000).send({ type: "stop" }).answer();
    candidate.send({ type: "start" }).standing(waiting).pass(60_000);
    expect(candidate.sent.slice(-1)).toEqual(["30 publish waiting"]);
  });

  it("is shown in a run that starts before the last one was removed", () => {
    const candidate = started().standing(waiting).pass(1_000).send({ type: "stop" });
    candidate.send({ type: "start" }).standing(waiting).answer().pass(60_000);
    expect(candidate.sent.at(-1)).toBe("30 publish waiting");
  });
});

describe("without the permission", () => {
  it("says so once, and tries again every ten minutes", () => {
    const candidate = started()
      .standing(waiting)
      .pass(1_300_000, () => denied);
    expect(candidate.sent.filter((each) => each.includes("report"))).toEqual(["0 report"]);
    expect(candidate.sent.filter((each) => each.includes("publish"))).toHaveLength(3);
  });

  it("removes nothing when it stops, because nothing was written", () => {
    const candidate = started()
      .standing(waiting)
      .pass(1_000, () => denied)
      .send({ type: "stop" });
    expect(candidate.sent.at(-1)).toBe("1 gone");
  });

  it("says so if it may not remove what it has written", () => {
    const candidate = started().standing(waiting).pass(1_000).send({ type: "stop" });
    candidate.pass(30, () => denied);
    expect(candidate.sent.slice(-2)).toEqual(["1.03 report", "1.03 gone"]);
  });

  it("says so if it may not look for what others left behind, and is shown all the same", () => {
    const failures = [denied];
    const candidate = started().standing(leading).answer();
    candidate.pass(61_000, () => failures.pop());
    expect(candidate.sent.slice(0, 4)).toEqual([
      "0 publish leading",
      "1 sweep",
      "1 report",
      "60 publish leading",
    ]);
  });
});

it("a failure is silent, because requests for the lock report it, and is tried again after half a minute", () => {
  const candidate = started()
    .standing(waiting)
    .pass(61_000, () => unreachable);
  expect(candidate.sent).toEqual(["0 publish waiting", "30 publish waiting", "60 publish waiting"]);
});

it("writes at most twice in any minute, whatever happens", () => {
  const failure = fc.constantFrom(undefined, unreachable, denied);
  const act = fc.oneof(
    fc.record({ ms: fc.integer({ min: 0, max: 40_000 }), failure }),
    fc.constantFrom<AttendanceEvent>(
      { type: "standing", standing: waiting },
      { type: "standing", standing: leading },
      { type: "start" },
      { type: "tick" },
    ),
  );
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
      const candidate = started();
      for (const each of acts) {
        if ("ms" in each) candidate.pass(each.ms, () => each.failure);
        else candidate.send(each);
      }
      const times = candidate.sent
        .filter((each) => each.includes("publish"))
        .map((each) => Number.parseFloat(each) * 1_000);
      for (const from of times) {
        const within = times.filter((time) => time >= from && time < from + 60_000);
        expect(within.length).toBeLessThanOrEqual(2);
      }
    }),
  );
  expect(attendanceTimings.leaseSeconds * 1_000).toBeGreaterThan(2 * attendanceTimings.heartbeatMs);
});

describe("one request at a time", () => {
  /** Its first write is not answered yet. */
  const publishing = () => {
    const candidate = started();
    candidate.nowMs = 5_000;
    expect(candidate.send({ type: "tick" }).sent).toEqual(["5 publish starting"]);
    return candidate;
  };

  it("is sent, however long its answer takes", () => {
    const candidate = publishing();
    candidate.nowMs = 600_000;
    candidate.standing(leading).nowMs += 2_000;
    expect(candidate.send({ type: "tick" }).sent).toHaveLength(1);
    expect(candidate.answer().sent.at(-1)).toBe("602 publish leading");
  });

  it("also by a run that starts before the last request of the run before it was answered", () => {
    const candidate = publishing().send({ type: "stop" });
    candidate.nowMs = 600_000;
    candidate.send({ type: "start" }).nowMs += 2_000;
    expect(candidate.send({ type: "tick" }).sent).toHaveLength(1);
    expect(candidate.answer().sent).toHaveLength(2);
  });
});

it("does nothing when it is started a second time", () => {
  const candidate = started().pass(1_000);
  const before = candidate.state;
  expect(candidate.send({ type: "start" }).state).toBe(before);
});

it("reports a missing permission once, also if the last request lacks it too", () => {
  const candidate = started().pass(1_000).standing(leading);
  candidate.pass(20 * attendanceTimings.heartbeatMs, () =>
    candidate.state.inFlight === "sweep" ? denied : undefined,
  );
  candidate.send({ type: "stop" }).pass(1_000, () => denied);
  expect(candidate.sent.filter((line) => line.endsWith("report"))).toHaveLength(1);
  expect(candidate.sent.at(-1)).toMatch(/gone$/);
});
