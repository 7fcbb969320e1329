/** @tenure/cluster: controllers and a scheduler that work through any Kubernetes API. */
export type { ApiClient } from "./client/api.ts";
