/** A kubeconfig. Written by hand: its few lines are not worth loading a YAML library at start-up. */

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
