/** POST of a Binding: a scheduler assigns a pod to a node. */
import { keyOf } from "../objects/kind.ts";
import { at, type JsonObject } from "../objects/object.ts";
import { conflict, field, invalid, notFound } from "../objects/status.ts";
import { formatTime } from "../objects/time.ts";
import { readBody } from "./body.ts";
import type { ApiResponse, KindContext } from "./context.ts";
import { subjectOf } from "./write.ts";

export async function bind(context: KindContext): Promise<ApiResponse> {
  const { kind, info, cluster } = context;
  const { value } = await readBody(context, "Binding");
  const node = at(value, "target", "name");
  if (typeof node !== "string" || node === "") {
    throw invalid({ group: "", kind: "Binding", name: info.name }, [field.required("target.name")]);
  }
  await cluster.store.commit(keyOf(kind, info.namespace, info.name), (current) => {
    const subject = subjectOf({ kind }, info.name);
    if (!current) throw notFound(subject);
    const spec = current.value.spec as JsonObject;
    if (spec.nodeName)
      throw conflict(
        subject,
        `pod ${info.name} is already assigned to node ${JSON.stringify(spec.nodeName)}`,
      );
    const status = (current.value.status ?? {}) as JsonObject;
    const conditions = ((status.conditions ?? []) as JsonObject[]).filter(
      ({ type }) => type !== "PodScheduled",
    );
    const scheduled = {
      type: "PodScheduled",
      status: "True",
      lastTransitionTime: formatTime(cluster.platform.clock.now().wallMs),
    };
    return {
      ...current.value,
      spec: { ...spec, nodeName: node },
      status: { ...status, conditions: [...conditions, scheduled] },
    };
  });
  return {
    type: "object",
    code: 201,
    value: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 },
  };
}
