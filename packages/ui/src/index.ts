/** @tenure/ui: the timeline of elections, its recordings, and the page that shows it. */
export { UiError, type UiErrorCode } from "./errors.ts";
export { EventParser } from "./events/event-parser.ts";
export type { Observation, OrdersSeen } from "./model/observation.ts";
export { Timeline } from "./model/timeline.ts";
export { headerLine, observationLine, readRecording } from "./recording/recording.ts";
export { LiveFeed } from "./server/live-feed.ts";
export {
  type ClusterView,
  type ElectionRights,
  type Finding,
  type OrderGiven,
  startUiServer,
  type UiActions,
  type UiServer,
  type UiServerOptions,
} from "./server/server.ts";
export { writePage } from "./server/single-page.ts";
