/** POST to a collection. */
import type { Answer, KindContext } from "./context.ts";
import { decodeBody } from "./decode-body.ts";
import { represent } from "./represent.ts";
import { createObject } from "./write.ts";
import { parseOptions } from "./write-options.ts";

export async function create(context: KindContext): Promise<Answer> {
  const options = parseOptions(context);
  const object = await decodeBody(context);
  return represent(context, await createObject(context, object, options), 201);
}
