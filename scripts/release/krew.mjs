// @ts-check
/** The manifest for krew, the package manager for plugins of kubectl: `kubectl krew install tenure`, then `kubectl tenure list`. */

/** The names of architectures in Kubernetes. */
const goArchitectures = { x64: "amd64", arm64: "arm64" };

/**
 * @param {string} version
 * @param {string} repository address of the repository, whose releases have the archives
 * @param {readonly { arch: "x64" | "arm64", archive: string, sha256: string }[]} binaries
 */
export function krewManifest(version, repository, binaries) {
  const platforms = binaries.map(
    ({ arch, archive, sha256 }) => `  - selector:
      matchLabels:
        os: linux
        arch: ${goArchitectures[arch]}
    uri: ${repository}/releases/download/v${version}/${archive}
    sha256: ${sha256}
    bin: tenure`,
  );
  return `apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: tenure
spec:
  version: v${version}
  homepage: ${repository}
  shortDescription: See who leads an election, and change it
  description: |
    Shows the leader elections of a cluster, also those of client-go: who leads, since when, and when the lease expires.
    Makes a leader step down, transfers leadership, pauses an election, and finds problems (kubectl tenure doctor).
    Runs any program on exactly one of N replicas (kubectl tenure run).
  platforms:
${platforms.join("\n")}
`;
}
