/** Writes a kubeconfig as text, so that the sandbox does not need to load a YAML library at start. */

export function kubeconfig({ url, caPem, token }: { url: string; caPem: string; token: string }): string {
  const authority = caPem ? `\n    certificate-authority-data: ${Buffer.from(caPem).toString("base64")}` : "";
  return `apiVersion: v1
kind: Config
clusters:
- name: tenure-sandbox
  cluster:
    server: "${url}"${authority}
users:
- name: tenure-sandbox-admin
  user:
    token: "${token}"
contexts:
- name: tenure-sandbox
  context:
    cluster: tenure-sandbox
    user: tenure-sandbox-admin
    namespace: default
current-context: tenure-sandbox
`;
}
