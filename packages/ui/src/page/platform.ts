/** What the page takes from its browser. */

/** Milliseconds by a clock that never jumps. */
export const monotonicMs = (): number => performance.now();

export function later(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}

/** Lets the browser draw and react before the work goes on. */
export function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/** Storage of this tab, or of this browser. A page in a file may have none. */
export function stored(name: string, area: "tab" | "browser"): string | undefined {
  try {
    return (area === "tab" ? sessionStorage : localStorage).getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

export function store(name: string, value: string, area: "tab" | "browser"): void {
  try {
    (area === "tab" ? sessionStorage : localStorage).setItem(name, value);
  } catch {
    // The value lasts as long as the page, then.
  }
}
