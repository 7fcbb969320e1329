/** The resources that the components use. */
import type { Resource } from "./api.ts";
import type { EndpointSlice, Endpoints } from "./endpoint-objects.ts";
import type { ConfigMap, KubeObject, Lease, Node, Pod, Service } from "./objects.ts";
import type {
  ControllerRevision,
  CronJob,
  DaemonSet,
  Deployment,
  Job,
  PodDisruptionBudget,
  ReplicaSet,
  StatefulSet,
} from "./workloads.ts";

export const pods: Resource<Pod> = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true };
export const nodes: Resource<Node> = { apiVersion: "v1", kind: "Node", plural: "nodes", namespaced: false };
export const services: Resource<Service> = {
  apiVersion: "v1",
  kind: "Service",
  plural: "services",
  namespaced: true,
};
export const leases: Resource<Lease> = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
};
export const replicaSets: Resource<ReplicaSet> = {
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  plural: "replicasets",
  namespaced: true,
};
export const deployments: Resource<Deployment> = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
};
export const namespaces: Resource<KubeObject> = {
  apiVersion: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
};
export const endpointSlices: Resource<EndpointSlice> = {
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  namespaced: true,
};
export const endpoints: Resource<Endpoints> = {
  apiVersion: "v1",
  kind: "Endpoints",
  plural: "endpoints",
  namespaced: true,
};
export const configMaps: Resource<ConfigMap> = {
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};
export const jobs: Resource<Job> = { apiVersion: "batch/v1", kind: "Job", plural: "jobs", namespaced: true };
export const statefulSets: Resource<StatefulSet> = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  plural: "statefulsets",
  namespaced: true,
};
export const controllerRevisions: Resource<ControllerRevision> = {
  apiVersion: "apps/v1",
  kind: "ControllerRevision",
  plural: "controllerrevisions",
  namespaced: true,
};
export const volumeClaims: Resource<KubeObject> = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
  namespaced: true,
};
export const podDisruptionBudgets: Resource<PodDisruptionBudget> = {
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  namespaced: true,
};
export const daemonSets: Resource<DaemonSet> = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  plural: "daemonsets",
  namespaced: true,
};
export const cronJobs: Resource<CronJob> = {
  apiVersion: "batch/v1",
  kind: "CronJob",
  plural: "cronjobs",
  namespaced: true,
};
