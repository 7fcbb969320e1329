// @ts-check
/** @type {import("node:module").ResolveHook} */
export async function resolve(specifier, context, next) {
  const shim = new URL("./short-lease-election.mjs", import.meta.url).href;
  if (specifier === "@tenure/election" && context.parentURL !== shim)
    return { url: shim, shortCircuit: true };
  return next(specifier, context);
}
