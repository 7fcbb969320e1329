import { describe, expect, it } from "vitest";
import { describeNeed, formatRule, rbacRuleFor } from "./rbac.ts";

const lease = "/apis/coordination.k8s.io/v1/namespaces/prod/leases";
const named = "?fieldSelector=metadata.name%3Dmy-lock";

describe("rbacRuleFor", () => {
  const lines: [
    method: string,
    path: string,
    watch: boolean,
    described: string,
    role: string,
    rule: string,
  ][] = [
    [
      "GET",
      `${lease}/my-lock`,
      false,
      'get leases.coordination.k8s.io "my-lock" in namespace "prod"',
      "Role",
      '{apiGroups: ["coordination.k8s.io"], resources: ["leases"], resourceNames: ["my-lock"], verbs: ["get"]}',
    ],
    [
      "PUT",
      `${lease}/my-lock`,
      false,
      'update leases.coordination.k8s.io "my-lock" in namespace "prod"',
      "Role",
      '{apiGroups: ["coordination.k8s.io"], resources: ["leases"], resourceNames: ["my-lock"], verbs: ["update"]}',
    ],
    [
      "PATCH",
      `${lease}/my-lock`,
      false,
      'patch leases.coordination.k8s.io "my-lock" in namespace "prod"',
      "Role",
      '{apiGroups: ["coordination.k8s.io"], resources: ["leases"], resourceNames: ["my-lock"], verbs: ["patch"]}',
    ],
    [
      "DELETE",
      `${lease}/my-lock`,
      false,
      'delete leases.coordination.k8s.io "my-lock" in namespace "prod"',
      "Role",
      '{apiGroups: ["coordination.k8s.io"], resources: ["leases"], resourceNames: ["my-lock"], verbs: ["delete"]}',
    ],
    [
      "POST",
      lease,
      false,
      'create leases.coordination.k8s.io in namespace "prod"',
      "Role",
      '{apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"]}',
    ],
    [
      "GET",
      lease,
      false,
      'list leases.coordination.k8s.io in namespace "prod"',
      "Role",
      '{apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["list"]}',
    ],
    [
      "GET",
      lease + named,
      true,
      'watch leases.coordination.k8s.io "my-lock" in namespace "prod"',
      "Role",
      '{apiGroups: ["coordination.k8s.io"], resources: ["leases"], resourceNames: ["my-lock"], verbs: ["watch"]}',
    ],
    [
      "GET",
      `${lease}?labelSelector=a%3Db`,
      true,
      'watch leases.coordination.k8s.io in namespace "prod"',
      "Role",
      '{apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["watch"]}',
    ],
    [
      "DELETE",
      lease + named,
      false,
      'deletecollection leases.coordination.k8s.io "my-lock" in namespace "prod"',
      "Role",
      '{apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["deletecollection"]}',
    ],
    [
      "GET",
      "/api/v1/namespaces/prod/configmaps/a%20b",
      false,
      'get configmaps "a b" in namespace "prod"',
      "Role",
      '{apiGroups: [""], resources: ["configmaps"], resourceNames: ["a b"], verbs: ["get"]}',
    ],
    [
      "PATCH",
      "/api/v1/namespaces/prod/pods/web-0/status",
      false,
      'patch pods/status "web-0" in namespace "prod"',
      "Role",
      '{apiGroups: [""], resources: ["pods/status"], resourceNames: ["web-0"], verbs: ["patch"]}',
    ],
    [
      "POST",
      "/api/v1/namespaces/prod/serviceaccounts/me/token",
      false,
      'create serviceaccounts/token "me" in namespace "prod"',
      "Role",
      '{apiGroups: [""], resources: ["serviceaccounts/token"], resourceNames: ["me"], verbs: ["create"]}',
    ],
    [
      "GET",
      "/api/v1/namespaces/prod",
      false,
      'get namespaces "prod"',
      "ClusterRole",
      '{apiGroups: [""], resources: ["namespaces"], resourceNames: ["prod"], verbs: ["get"]}',
    ],
    [
      "PUT",
      "/api/v1/namespaces/prod/finalize",
      false,
      'update namespaces/finalize "prod"',
      "ClusterRole",
      '{apiGroups: [""], resources: ["namespaces/finalize"], resourceNames: ["prod"], verbs: ["update"]}',
    ],
    [
      "GET",
      "/api/v1/nodes",
      false,
      "list nodes",
      "ClusterRole",
      '{apiGroups: [""], resources: ["nodes"], verbs: ["list"]}',
    ],
    [
      "HEAD",
      "/api/v1/nodes/n1/proxy",
      false,
      'get nodes/proxy "n1"',
      "ClusterRole",
      '{apiGroups: [""], resources: ["nodes/proxy"], resourceNames: ["n1"], verbs: ["get"]}',
    ],
    [
      "GET",
      "/apis/example.com/v1/things/t/status",
      false,
      'get things/status.example.com "t"',
      "ClusterRole",
      '{apiGroups: ["example.com"], resources: ["things/status"], resourceNames: ["t"], verbs: ["get"]}',
    ],
    ["OPTIONS", "/", false, "options /", "ClusterRole", '{nonResourceURLs: ["/"], verbs: ["options"]}'],
    [
      "get",
      `${lease}?fieldSelector=spec.x%3Dy,metadata.name%3D%3Dz`,
      false,
      'list leases.coordination.k8s.io "z" in namespace "prod"',
      "Role",
      '{apiGroups: ["coordination.k8s.io"], resources: ["leases"], resourceNames: ["z"], verbs: ["list"]}',
    ],
    [
      "GET",
      "/version",
      false,
      "get /version",
      "ClusterRole",
      '{nonResourceURLs: ["/version"], verbs: ["get"]}',
    ],
    [
      "GET",
      "/apis/apps/v1",
      false,
      "get /apis/apps/v1",
      "ClusterRole",
      '{nonResourceURLs: ["/apis/apps/v1"], verbs: ["get"]}',
    ],
    [
      "GET",
      "/api/v1/pods/%zz",
      false,
      'get pods "%zz"',
      "ClusterRole",
      '{apiGroups: [""], resources: ["pods"], resourceNames: ["%zz"], verbs: ["get"]}',
    ],
  ];
  it.each(lines)("%s %s (watch: %s) needs: %s", (method, path, watch, described, role, rule) => {
    const need = rbacRuleFor(method, path, watch);
    expect(describeNeed(need)).toBe(described);
    expect(need.role).toBe(role);
    expect(formatRule(need.rule)).toBe(rule);
  });

  it("has no group, resource, name or namespace for a path that is not a resource", () => {
    expect(rbacRuleFor("GET", "/healthz?verbose")).toEqual({
      verb: "get",
      apiGroup: "",
      resource: "",
      role: "ClusterRole",
      rule: { nonResourceURLs: ["/healthz"], verbs: ["get"] },
    });
  });

  it("has a name and a namespace only if the request has them", () => {
    expect(rbacRuleFor("GET", "/api/v1/nodes")).toEqual({
      verb: "list",
      apiGroup: "",
      resource: "nodes",
      role: "ClusterRole",
      rule: { apiGroups: [""], resources: ["nodes"], verbs: ["list"] },
    });
  });
});
