/**
 * Programs in Go take a flag with one dash or with two, and examples of elections are written for them. With one dash the
 * few flags that such an example has are taken as well, by `tenure elect` only: elsewhere -id means -i -d.
 */
const flags = ["kubeconfig", "lease-lock-name", "lease-lock-namespace", "id"];

export function withDoubleDashes(args: readonly string[]): string[] {
  if (args[0] !== "elect") return [...args];
  const single = new RegExp(`^-(${flags.join("|")})(=|$)`);
  return args.map((arg) => (single.test(arg) ? `-${arg}` : arg));
}
