/** The machine and the model of a supervised replica, for the simulator. Not part of the public API. */
export type { Effect, Event } from "./machine/types.ts";
export { MachineLoop } from "./machine-loop.ts";
export { type Action, Play } from "./model/play.ts";
