// @ts-check
/** Names each module of the API pages as people import it. TypeDoc names it after its file. */
import { Converter, ReflectionKind } from "typedoc";

/** @param {import("typedoc").Application} app */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.getReflectionsByKind(ReflectionKind.Module))
      module.name = `@tenure/${module.name.replace("/src", "")}`;
  });
}
