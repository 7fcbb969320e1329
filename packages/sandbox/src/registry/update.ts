/** PUT of one object. */
import { badRequest } from "../objects/status.ts";
import type { ApiResponse, KindContext } from "./context.ts";
import { checkResourceVersion, decodeBody } from "./decode-body.ts";
import { represent } from "./represent.ts";
import { updateObject } from "./write.ts";
import { parseWriteOptions } from "./write-options.ts";

export async function update(context: KindContext): Promise<ApiResponse> {
  const { kind, info } = context;
  const options = parseWriteOptions(context);
  const object = await decodeBody(context, options.fieldValidation);
  const { name, namespace } = object.metadata;
  if (name !== info.name) {
    if (!name) {
      throw badRequest(
        `the name of the object (${info.name} based on URL) was undeterminable: name must be provided`,
      );
    }
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${info.name})`);
  }
  if (kind.namespaced && namespace && namespace !== info.namespace) {
    throw badRequest(
      `the namespace of the object (${namespace}) does not match the namespace on the request (${info.namespace})`,
    );
  }
  checkResourceVersion(object);
  const create = (kind.createOnUpdate ?? false) && info.subresource === "";
  const { stored, created } = await updateObject(context, options, () => object, create);
  return represent(context, stored, created ? 201 : 200);
}
