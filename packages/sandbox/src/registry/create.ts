/** POST to a collection. */
import type { ApiResponse, KindContext } from "./context.ts";
import { decodeBody } from "./decode-body.ts";
import { represent } from "./represent.ts";
import { createObject } from "./write.ts";
import { parseWriteOptions } from "./write-options.ts";

export async function create(context: KindContext): Promise<ApiResponse> {
  const options = parseWriteOptions(context);
  const object = await decodeBody(context, options.fieldValidation);
  return represent(context, await createObject(context, object, options), 201);
}
