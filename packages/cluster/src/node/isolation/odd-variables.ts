/**
 * A shell drops variables whose names it cannot use, such as data-1. They pass the scripts of a container under other names, and env
 * sets them right before the program starts. Their values are never arguments of a process that lasts: everybody sees those.
 */
const carrier = "TENURE_ODD_VARIABLE_";

const restoreScript = `index=$1
shift
while [ "$index" -gt 0 ]; do
  index=$((index - 1))
  eval "variable=\\$${carrier}$index"
  unset "${carrier}$index"
  set -- "$variable" "$@"
done
exec /usr/bin/env -- "$@"`;

type Variables = Readonly<Record<string, string>>;

const oddOf = (env: Variables) =>
  Object.entries(env).filter(([name]) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));

/** The variables for the scripts. */
export function packVariables(env: Variables): Record<string, string> {
  const packed = oddOf(env).map(([name, value], index) => [`${carrier}${index}`, `${name}=${value}`]);
  return { ...env, ...Object.fromEntries(packed) };
}

/** The program, which gets all variables under their own names. */
export function unpackVariables(env: Variables, argv: readonly string[]): readonly string[] {
  const count = oddOf(env).length;
  return count === 0 ? argv : ["/bin/sh", "-c", restoreScript, "sh", String(count), ...argv];
}
