/** Helpers and data for the other packages of this repository. Not part of the public API. */
export { parseListenAddress } from "./listen-address.ts";
export { metricsCatalogue } from "./metrics/catalogue.ts";
export { readyModes } from "./source.ts";
