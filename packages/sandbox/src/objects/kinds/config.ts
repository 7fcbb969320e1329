/** ConfigMap, Secret and ServiceAccount. */
import { ageColumn, type Kind, nameColumn } from "../kind.ts";
import { isConfigMapKey, isDnsSubdomain } from "../name-rules.ts";
import type { ApiObject } from "../object.ts";
import { equal } from "../object.ts";
import { type FieldError, field } from "../status.ts";
import { immutable } from "../validate.ts";

const core = { group: "", version: "v1", namespaced: true, name: isDnsSubdomain } as const;

/** The limit of Kubernetes, so that an object fits into one request to etcd. */
const maxDataBytes = 1024 * 1024;

type Data = Record<string, string>;
const count = (value: unknown) => Object.keys((value ?? {}) as Data).length;

export const configMap: Kind = {
  ...core,
  kind: "ConfigMap",
  plural: "configmaps",
  singular: "configmap",
  shortNames: ["cm"],
  type: "api.core.v1.ConfigMap",
  storage: "configmaps",
  columns: [
    nameColumn,
    { name: "Data", cell: (object) => String(count(object.data) + count(object.binaryData)) },
    ageColumn,
  ],
  validate(object, old) {
    const data = (object.data ?? {}) as Data;
    const binary = (object.binaryData ?? {}) as Data;
    const errors: FieldError[] = [];
    if (old?.immutable === true) {
      const why = "field is immutable when `immutable` is set";
      if (object.immutable !== true) errors.push(field.forbidden("immutable", why));
      if (!equal(object.data, old.data)) errors.push(field.forbidden("data", why));
      if (!equal(object.binaryData, old.binaryData)) errors.push(field.forbidden("binaryData", why));
    }
    let size = 0;
    for (const [key, value] of Object.entries(data)) {
      errors.push(...isConfigMapKey(key).map((why) => field.invalid(`data[${key}]`, key, why)));
      if (Object.hasOwn(binary, key))
        errors.push(field.invalid(`data[${key}]`, key, "duplicate of key present in binaryData"));
      size += Buffer.byteLength(value);
    }
    for (const [key, value] of Object.entries(binary)) {
      errors.push(...isConfigMapKey(key).map((why) => field.invalid(`binaryData[${key}]`, key, why)));
      size += Buffer.from(value, "base64").length;
    }
    if (size > maxDataBytes) errors.push(field.tooLong("[]", maxDataBytes));
    return errors;
  },
};

export const secret: Kind = {
  ...core,
  kind: "Secret",
  plural: "secrets",
  singular: "secret",
  type: "api.core.v1.Secret",
  storage: "secrets",
  selectable: { type: (object) => String(object.type ?? "") },
  columns: [
    nameColumn,
    { name: "Type", cell: (object) => object.type },
    { name: "Data", cell: (object) => String(count(object.data)) },
    ageColumn,
  ],
  defaults(object) {
    const { stringData, ...rest } = object as ApiObject & { stringData?: Data };
    const written = Object.entries(stringData ?? {}).map(([key, value]) => [
      key,
      Buffer.from(value).toString("base64"),
    ]);
    const data = { ...((object.data ?? {}) as Data), ...Object.fromEntries(written) };
    return { ...rest, ...(count(data) > 0 ? { data } : {}), type: object.type || "Opaque" } as ApiObject;
  },
  validate(object, old) {
    const errors: FieldError[] = [];
    if (old && old.type !== object.type) errors.push(immutable("type", object.type));
    if (old?.immutable === true) {
      const why = "field is immutable when `immutable` is set";
      if (object.immutable !== true) errors.push(field.forbidden("immutable", why));
      if (!equal(object.data, old.data)) errors.push(field.forbidden("data", why));
    }
    let size = 0;
    for (const [key, value] of Object.entries((object.data ?? {}) as Data)) {
      errors.push(...isConfigMapKey(key).map((why) => field.invalid(`data[${key}]`, key, why)));
      size += Buffer.from(value, "base64").length;
    }
    if (size > maxDataBytes) errors.push(field.tooLong("data", maxDataBytes));
    return [...errors, ...validateSecretType(object)];
  },
};

/** Some types of secrets need certain keys. */
function validateSecretType(object: ApiObject): FieldError[] {
  const data = (object.data ?? {}) as Data;
  const missing = (...keys: string[]) => keys.filter((key) => !Object.hasOwn(data, key));
  const required = (keys: string[]) => keys.map((key) => field.required(`data[${key}]`));
  switch (object.type) {
    case "kubernetes.io/tls":
      return required(missing("tls.crt", "tls.key"));
    case "kubernetes.io/ssh-auth":
      return data["ssh-privatekey"] ? [] : required(["ssh-privatekey"]);
    case "kubernetes.io/basic-auth": {
      const keys = missing("username", "password");
      return keys.length === 2 ? required(keys) : [];
    }
    case "kubernetes.io/service-account-token": {
      const key = "kubernetes.io/service-account.name";
      const path = `metadata.annotations[${key}]`;
      return object.metadata.annotations?.[key] ? [] : [field.required(path)];
    }
    case "kubernetes.io/dockercfg":
      return required(missing(".dockercfg"));
    case "kubernetes.io/dockerconfigjson":
      return required(missing(".dockerconfigjson"));
    default:
      return [];
  }
}

export const serviceAccount: Kind = {
  ...core,
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  singular: "serviceaccount",
  shortNames: ["sa"],
  type: "api.core.v1.ServiceAccount",
  storage: "serviceaccounts",
  columns: [nameColumn, ageColumn],
};
