/** Server-sent events, from text that arrives in pieces. */
export class EventParser {
  readonly #onEvent: (data: string, event: string) => void;
  #rest = "";
  #data: string[] = [];
  #event = "message";

  constructor(onEvent: (data: string, event: string) => void) {
    this.#onEvent = onEvent;
  }

  push(chunk: string): void {
    const lines = (this.#rest + chunk).split("\n");
    this.#rest = lines.pop() ?? "";
    // No event is that long. A server that never ends its line must not fill the memory.
    if (this.#rest.length > mostLineLength) this.#rest = "";
    for (const line of lines) this.#line(line.replace(/\r$/, ""));
  }

  #line(line: string): void {
    if (line.startsWith("data:")) this.#data.push(line.slice(5).trimStart());
    if (line.startsWith("event:")) this.#event = line.slice(6).trim();
    if (line !== "") return;
    if (this.#data.length > 0) this.#onEvent(this.#data.join("\n"), this.#event);
    this.#data = [];
    this.#event = "message";
  }
}

const mostLineLength = 64 * 1024 * 1024;
