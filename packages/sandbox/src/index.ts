/** A Kubernetes API in one Node process: to try, develop and test against. */

export type { KeyAndCertificate } from "./certificates/certificate.ts";
export { connectSandbox, type SandboxControl } from "./control.ts";
export { SandboxError, type SandboxErrorCode } from "./errors.ts";
export type { FaultEffect, FaultSpec } from "./faults/fault.ts";
export type { FaultHandle, Faults, ListedFault } from "./faults/faults.ts";
export { type Platform, systemPlatform, type Timer } from "./platform.ts";
export { type Sandbox, type SandboxOptions, startSandbox } from "./sandbox.ts";
export type { ServiceAccountCredentials } from "./service-account.ts";
export { openStore } from "./store/open.ts";
export type { Store } from "./store/store.ts";
