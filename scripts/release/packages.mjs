// @ts-check
/** The packages that are published, and what their manifests have in common. */

const common = ["kubernetes", "leader-election", "typescript"];

/**
 * `unpackedKb` is a limit: a package that is larger has something in it that does not belong there, or needs a new limit with a
 * reason. `hasDist`: there is no bundle, so the files of tsc are published. `programs`: files that do something when they are loaded.
 * @type {Readonly<Record<string, { keywords: readonly string[], unpackedKb: number, hasDist?: boolean, programs?: readonly string[] }>>}
 */
export const publicPackages = {
  base: { keywords: ["clock", "backoff"], unpackedKb: 170 },
  core: { keywords: ["state-machine", "lease"], unpackedKb: 760 },
  // The part of js-yaml that reads a kubeconfig is in its bundle, and the source maps contain all of it.
  kube: { keywords: ["kubeconfig", "watch"], unpackedKb: 1_250 },
  election: {
    keywords: ["lease", "lock", "distributed-lock", "fencing", "high-availability"],
    unpackedKb: 1_750,
  },
  postgres: { keywords: ["postgresql", "distributed-lock"], unpackedKb: 160, hasDist: true },
  etcd: { keywords: ["etcd", "distributed-lock"], unpackedKb: 160, hasDist: true },
  traffic: { keywords: ["readiness", "endpointslice"], unpackedKb: 200 },
  supervisor: {
    keywords: ["process-manager", "watchdog"],
    unpackedKb: 600,
    programs: ["./bundle/watchdog/main.js"],
  },
  status: { keywords: ["prometheus", "server-sent-events"], unpackedKb: 160 },
  stream: { keywords: ["grpc", "stream"], unpackedKb: 340, hasDist: true },
  sandbox: { keywords: ["test", "mock", "api-server"], unpackedKb: 2_400 },
  cluster: { keywords: ["controller", "scheduler"], unpackedKb: 1_850, hasDist: true },
  cli: {
    keywords: ["kubectl-plugin", "sidecar", "lease", "high-availability", "cli"],
    // 1,200 of these are code that V8 has compiled, with the text that it was compiled from.
    unpackedKb: 11_200,
    programs: ["./bin/*.cjs", "./bundle/*.cjs"],
  },
  testkit: { keywords: ["test", "virtual-time"], unpackedKb: 130 },
};

/** @param {string} name the folder in packages */
export function keywordsOf(name) {
  return [...common, ...(publicPackages[name]?.keywords ?? [])];
}

/** Licences of dependencies with which a program under Apache-2.0 may be published. */
export const allowedLicences = [
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "PSF-2.0",
  "Unlicense",
];
