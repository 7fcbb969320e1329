/**
 * Volumes, claims and storage classes. Nothing provisions or attaches a volume, and nothing protects a volume in use:
 * the finalizers that a real server adds would hold the object until a controller removes them.
 */
import type { Kind } from "../kind.ts";
import { type ApiObject, at, type JsonObject } from "../object.ts";
import { declare, defaulting, fieldColumn, wide, withColumns } from "./declare.ts";

const group = "storage.k8s.io";

const shortModes: Record<string, string> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};
const accessModes = (modes: unknown) =>
  ((modes ?? []) as string[]).map((mode) => shortModes[mode] ?? mode).join(",");

export const persistentVolume: Kind = declare({
  group: "",
  kind: "PersistentVolume",
  shortNames: ["pv"],
  namespaced: false,
  status: true,
  columns: withColumns(
    fieldColumn("Capacity", "spec.capacity.storage", ""),
    { name: "Access Modes", cell: (object) => accessModes(at(object, "spec", "accessModes")) },
    fieldColumn("Reclaim Policy", "spec.persistentVolumeReclaimPolicy", ""),
    fieldColumn("Status", "status.phase", ""),
    {
      name: "Claim",
      cell: (object) => {
        const { namespace, name } = (at(object, "spec", "claimRef") ?? {}) as Record<string, string>;
        return name ? `${namespace}/${name}` : "";
      },
    },
    fieldColumn("StorageClass", "spec.storageClassName", ""),
    fieldColumn("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>"),
    fieldColumn("Reason", "status.reason", ""),
  ),
  defaults(object, old) {
    const spec = { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem" };
    const complete = defaulting("spec", spec)(object);
    const { hostPath } = complete.spec as { hostPath?: JsonObject };
    const typed = hostPath
      ? { ...(complete.spec as JsonObject), hostPath: { type: "", ...hostPath } }
      : complete.spec;
    return { ...complete, spec: typed, ...(old ? {} : { status: { phase: "Pending" } }) };
  },
});

export const persistentVolumeClaim: Kind = declare({
  group: "",
  kind: "PersistentVolumeClaim",
  shortNames: ["pvc"],
  status: true,
  columns: withColumns(
    fieldColumn("Status", "status.phase", ""),
    fieldColumn("Volume", "spec.volumeName", ""),
    fieldColumn("Capacity", "status.capacity.storage", ""),
    { name: "Access Modes", cell: (object) => accessModes(at(object, "status", "accessModes")) },
    fieldColumn("StorageClass", "spec.storageClassName", ""),
    fieldColumn("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>"),
  ),
  defaults(object, old) {
    const complete = defaulting("spec", { volumeMode: "Filesystem" })(object);
    return old ? complete : { ...complete, status: { phase: "Pending" } };
  },
});

export const storageClass: Kind = declare({
  group,
  kind: "StorageClass",
  shortNames: ["sc"],
  namespaced: false,
  columns: withColumns(
    fieldColumn("Provisioner", "provisioner"),
    fieldColumn("ReclaimPolicy", "reclaimPolicy"),
    fieldColumn("VolumeBindingMode", "volumeBindingMode"),
    fieldColumn("AllowVolumeExpansion", "allowVolumeExpansion", false),
  ),
  defaults: (object) => ({
    ...object,
    reclaimPolicy: object.reclaimPolicy ?? "Delete",
    volumeBindingMode: object.volumeBindingMode ?? "Immediate",
  }),
});

export const volumeAttributesClass: Kind = declare({
  group,
  kind: "VolumeAttributesClass",
  shortNames: ["vac"],
  namespaced: false,
  columns: withColumns(fieldColumn("DriverName", "driverName")),
});

export const csiDriver: Kind = declare({
  group,
  kind: "CSIDriver",
  namespaced: false,
  unconditionalUpdate: false,
  columns: withColumns(
    fieldColumn("AttachRequired", "spec.attachRequired"),
    fieldColumn("PodInfoOnMount", "spec.podInfoOnMount"),
    fieldColumn("StorageCapacity", "spec.storageCapacity"),
  ),
  defaults: defaulting("spec", {
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    fsGroupPolicy: "ReadWriteOnceWithFSType",
    volumeLifecycleModes: ["Persistent"],
    requiresRepublish: false,
    seLinuxMount: false,
  }),
});

export const csiNode: Kind = declare({
  group,
  kind: "CSINode",
  namespaced: false,
  unconditionalUpdate: false,
  columns: withColumns({
    name: "Drivers",
    type: "integer",
    cell: (object) => ((at(object, "spec", "drivers") ?? []) as unknown[]).length,
  }),
  defaults: (object: ApiObject) => ({
    ...object,
    spec: { drivers: null, ...(object.spec as JsonObject | undefined) },
  }),
});

export const csiStorageCapacity: Kind = declare({
  group,
  kind: "CSIStorageCapacity",
  plural: "csistoragecapacities",
  unconditionalUpdate: false,
  columns: withColumns(
    wide(fieldColumn("StorageClassName", "storageClassName")),
    wide(fieldColumn("Capacity", "capacity")),
  ),
});

export const volumeAttachment: Kind = declare({
  group,
  kind: "VolumeAttachment",
  namespaced: false,
  unconditionalUpdate: false,
  status: true,
  statusKeeps: ["metadata"],
  columns: withColumns(
    fieldColumn("Attacher", "spec.attacher"),
    fieldColumn("PV", "spec.source.persistentVolumeName"),
    fieldColumn("Node", "spec.nodeName"),
    fieldColumn("Attached", "status.attached", false),
  ),
});
