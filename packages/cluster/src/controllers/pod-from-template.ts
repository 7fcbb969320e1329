/** Makes pods from the template of their controller. */
import type { KubeObject, OwnerReference, PodTemplate } from "../client/objects.ts";

/** The body of a new pod. @param name chosen by the caller, so that a create can be repeated safely */
export function podFromTemplate(
  template: PodTemplate,
  { owner, controller, name }: { owner: KubeObject; controller: OwnerReference; name: string },
): object {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    metadata: {
      name,
      generateName: `${owner.metadata.name}-`,
      namespace: owner.metadata.namespace,
      ...(labels ? { labels } : {}),
      ...(annotations ? { annotations } : {}),
      ...(finalizers ? { finalizers } : {}),
      ownerReferences: [controller],
    },
    spec: template.spec,
  };
}
