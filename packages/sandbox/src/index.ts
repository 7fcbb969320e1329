/** A Kubernetes API in one Node process, for trying out, developing and testing clients. */

export type { KeyAndCertificate } from "./access/certificate.ts";
export type { ServiceAccountCredentials } from "./access/service-account-credentials.ts";
export { connectSandbox, type SandboxControl } from "./control/client.ts";
export type { FaultEffect, FaultHandle, FaultSpec, Faults, ListedFault } from "./control/fault.ts";
export { SandboxError, type SandboxErrorCode } from "./errors.ts";
export { type Sandbox, type SandboxOptions, startSandbox } from "./sandbox.ts";
export type { EtcdStoreOptions } from "./store/etcd-store.ts";
export { openEtcdStore, openStore } from "./store/open.ts";
export type { Store } from "./store/store.ts";
