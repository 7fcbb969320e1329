/** The model of a supervised replica, for the simulator. Not part of the public API. */
export { type Action, Play } from "./model/play.ts";
