/** The pod template: containers, probes, shutdown and security context. */
import { tenureArguments } from "./arguments.ts";
import { podLabels, readyFilePath, templateLabels } from "./names.ts";
import type { CheckedOptions } from "./options.ts";

/** Numeric, because the kubelet cannot verify that a user with only a name is not root. */
const nobodyId = 65532;

export function podTemplate(options: CheckedOptions): object {
  const { mode, name, gracePeriod } = options;
  return {
    metadata: { labels: templateLabels(options) },
    spec: {
      serviceAccountName: name,
      automountServiceAccountToken: mode !== "sidecar",
      terminationGracePeriodSeconds: gracePeriod,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: nobodyId,
        runAsGroup: nobodyId,
        seccompProfile: { type: "RuntimeDefault" },
      },
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: "kubernetes.io/hostname",
          whenUnsatisfiable: "ScheduleAnyway",
          labelSelector: { matchLabels: podLabels(options) },
        },
      ],
      ...(mode === "sidecar" && { initContainers: [sidecarContainer(options)] }),
      containers: [appContainer(options)],
      volumes: [{ name: "tmp", emptyDir: {} }, ...(mode === "sidecar" ? [tokenVolume] : [])],
    },
  };
}

function appContainer(options: CheckedOptions): object {
  const { mode, image, command, port } = options;
  const container = { name: "app", image };
  if (mode === "sidecar") {
    return {
      ...container,
      ...(command.length > 0 && { command }),
      env: [{ name: "TENURE_URL", value: `http://127.0.0.1:${options.statusPort}` }, ...identity],
      ...(port !== undefined && { ports: [{ name: "app", containerPort: port }] }),
      securityContext,
      volumeMounts,
    };
  }
  return {
    ...container,
    ...(mode === "run" && { args: [...tenureArguments(options), "--", ...command] }),
    ...(mode === "library" && command.length > 0 && { command }),
    env: identity,
    ports: [...(port === undefined ? [] : [{ name: "app", containerPort: port }]), statusPort(options)],
    ...probes(options),
    securityContext,
    volumeMounts,
  };
}

function sidecarContainer(options: CheckedOptions): object {
  return {
    name: "tenure",
    image: options.tenureImage,
    restartPolicy: "Always",
    args: tenureArguments(options),
    env: identity,
    ports: [statusPort(options)],
    ...probes(options),
    resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "128Mi" } },
    securityContext,
    volumeMounts: [...volumeMounts, tokenMount],
  };
}

const fieldOf = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
const identity = [
  fieldOf("POD_NAME", "metadata.name"),
  fieldOf("NAMESPACE", "metadata.namespace"),
  fieldOf("POD_IP", "status.podIP"),
];

const securityContext = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};

const volumeMounts = [{ name: "tmp", mountPath: "/tmp" }];

/** What Kubernetes mounts into every container by default, but only for the containers that mount it. */
const tokenVolume = {
  name: "token",
  projected: {
    sources: [
      { serviceAccountToken: { path: "token", expirationSeconds: 3607 } },
      { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
      { downwardAPI: { items: [{ path: "namespace", fieldRef: { fieldPath: "metadata.namespace" } }] } },
    ],
  },
};
const tokenMount = {
  name: "token",
  mountPath: "/var/run/secrets/kubernetes.io/serviceaccount",
  readOnly: true,
};

const statusPort = (options: CheckedOptions) => ({ name: "status", containerPort: options.statusPort });

function probes(options: CheckedOptions): object {
  return {
    livenessProbe: {
      httpGet: { path: "/healthz", port: "status" },
      periodSeconds: 10,
      timeoutSeconds: 3,
      failureThreshold: 3,
    },
    readinessProbe: readiness(options),
  };
}

function readiness({ isOnlyLeaderReady }: CheckedOptions): object {
  return isOnlyLeaderReady
    ? { exec: { command: ["cat", readyFilePath] }, periodSeconds: 1, timeoutSeconds: 3, failureThreshold: 1 }
    : { httpGet: { path: "/readyz", port: "status" }, periodSeconds: 5, timeoutSeconds: 3 };
}
