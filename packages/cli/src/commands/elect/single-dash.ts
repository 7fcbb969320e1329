/**
 * Go programs accept flags with one dash or two, and many election examples are Go programs. `tenure elect` accepts the flags
 * of those examples with one dash. Other commands do not: there -id means -i -d.
 */
const flags = ["kubeconfig", "lease-lock-name", "lease-lock-namespace", "id"];

export function withDoubleDashes(args: readonly string[]): string[] {
  if (args[0] !== "elect") return [...args];
  const single = new RegExp(`^-(${flags.join("|")})(=|$)`);
  return args.map((arg) => (single.test(arg) ? `-${arg}` : arg));
}
