/** Makes elements. Text is only ever set as text: names come from the cluster, and may contain markup. */
type Child = Node | string | undefined | false;

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<Record<string, string | boolean | (() => void)>> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(key, value);
    else if (key === "class") made.className = value as string;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== false));
  return made;
}

export function byId<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return found as T;
}

/** Sets the text only if it differs, so that nothing is drawn or announced again. */
export function setText(of: HTMLElement, text: string): void {
  if (of.textContent !== text) of.textContent = text;
}
