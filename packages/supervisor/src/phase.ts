/**
 * Where a replica stands, as a pure table. The supervisor decides what happens; this says only what that makes of the phase.
 *
 *     follower ── elected ──► pre-leader ── ready ──► leader ── ending ──► pre-follower ── stopped ──► follower
 *                                 └── start-failed ──► follower        terminating: from any, and never left
 */
export type Phase = "follower" | "pre-leader" | "leader" | "pre-follower" | "terminating";

export type PhaseEvent =
  /** The election was won; the child is being started. */
  | "elected"
  /** The child said that it is ready. */
  | "ready"
  /** The child did not get that far, and nothing is left of it. */
  | "start-failed"
  /** The term ends, on purpose or by loss; the child is being stopped. */
  | "ending"
  /** Nothing is left of the child. */
  | "stopped"
  /** The run itself ends. */
  | "terminate";

const table: Readonly<Record<Phase, Readonly<Partial<Record<PhaseEvent, Phase>>>>> = {
  follower: { elected: "pre-leader", terminate: "terminating" },
  "pre-leader": {
    ready: "leader",
    "start-failed": "follower",
    ending: "pre-follower",
    terminate: "terminating",
  },
  leader: { ending: "pre-follower", terminate: "terminating" },
  "pre-follower": { stopped: "follower", terminate: "terminating" },
  terminating: {},
};

/** The phase after the event. What means nothing in a phase leaves it as it is. */
export function nextPhase(phase: Phase, event: PhaseEvent): Phase {
  return table[phase][event] ?? phase;
}
