/**
 * The arguments of `tenure run` and `tenure sidecar` in a pod. Identity, namespace and address come from the environment
 * (POD_NAME, NAMESPACE, POD_IP), so the arguments are the same for every replica and namespace.
 */
import { configMapName, readyFilePath } from "./names.ts";
import type { CheckedOptions } from "./options.ts";

export function tenureArguments(options: CheckedOptions): string[] {
  const { mode, name, statusPort, stopTimeout, gracePeriod } = options;
  return [
    mode,
    `--lease-lock-name=${name}`,
    `--status=:${statusPort}`,
    ...(mode === "run" ? [`--stop-timeout=${stopTimeout}s`, `--pod-grace-period=${gracePeriod}s`] : []),
    ...trafficArguments(options),
    ...(options.register ? [] : ["--no-register"]),
  ];
}

function trafficArguments(options: CheckedOptions): string[] {
  const { traffic, name } = options;
  switch (traffic) {
    case "none":
      return [];
    case "ready-file":
      return [`--ready-file=${readyFilePath}`];
    case "label":
      return ["--label"];
    case "endpointslice":
      return [`--service=${name}`];
    case "configmap":
      return [`--ready-file=${readyFilePath}`, `--leader-configmap=${configMapName(options)}`];
  }
}
