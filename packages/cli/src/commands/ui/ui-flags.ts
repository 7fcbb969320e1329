import type { Problem } from "@tenure/base";
import type { OperateFlags } from "../../cluster/session.ts";
import { replicaProblems } from "../../replicas/replicas-option.ts";
import { exclusive } from "../../settings/problems.ts";

export interface UiFlags extends OperateFlags {
  allNamespaces?: boolean;
  port: number;
  host: string;
  hostName?: string[];
  readOnly?: boolean;
  open?: string;
  html?: string;
  replica?: string[];
}

export function uiProblems(name: string | undefined, flags: UiFlags): Problem[] {
  const { open, html, host, readOnly, replica, allNamespaces } = flags;
  return [
    ...(html !== undefined && open === undefined
      ? [
          {
            field: "html",
            rule: "needs {open}",
            fix: "record something with tenure watch --record FILE first",
          },
        ]
      : []),
    ...(open !== undefined && name !== undefined ? [exclusive("NAME", "open")] : []),
    ...(name !== undefined && allNamespaces
      ? [{ ...exclusive("NAME", "allNamespaces"), fix: "choose one namespace with -n" }]
      : []),
    ...(isLoopback(host) || readOnly || open !== undefined
      ? []
      : [
          {
            field: "host",
            rule: "must be a loopback address, because everybody who reaches the page could act as you",
            value: host,
            fix: "add --read-only",
          },
        ]),
    ...replicaProblems(replica, name),
  ];
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
