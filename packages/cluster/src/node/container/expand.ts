/** References to variables in command, args and env: $(NAME). */

/** `$$` stands for `$`. A reference to a variable that does not exist stays as it is. */
export function expand(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$(\$|\(([^)]*)\))/g, (whole, next: string, name: string | undefined) => {
    if (next === "$") return "$";
    return name !== undefined && Object.hasOwn(variables, name) ? (variables[name] as string) : whole;
  });
}
