/** The canvas with the terms: size, pictures, pointer. */
import type { App } from "./app.ts";
import { byId, setText } from "./dom.ts";
import { drawAxis, drawElections } from "./draw.ts";
import { hitAt } from "./hit.ts";
import { hatch, type Palette, readPalette } from "./palette.ts";
import { visible } from "./rows.ts";
import { type Block, msOf, type Scene } from "./scene.ts";
import { pan, zoom } from "./time-range.ts";

/** How far the pointer moves before a press is a drag. */
const dragPx = 4;
const narrowPx = 760;

export class Tracks {
  readonly #app: App;
  readonly #scroller = byId("elections");
  readonly #canvas = byId<HTMLCanvasElement>("tracks");
  readonly #axis = byId<HTMLCanvasElement>("axis");
  readonly #tip = byId("tip");
  readonly #offsetMs = -new Date(0).getTimezoneOffset() * 60_000;
  #palette: Palette = readPalette();
  #stripes: Scene["stripes"] | undefined;
  #widthPx = 0;
  #heightPx = 0;
  blocks: readonly Block[] = [];

  constructor(app: App) {
    this.#app = app;
    new ResizeObserver(() => this.#resize()).observe(this.#scroller);
    this.#scroller.addEventListener("scroll", () => app.invalidate(), { passive: true });
    this.#listen();
  }

  /** The width of the column of names. */
  get leftPx(): number {
    if (this.#widthPx < narrowPx) return Math.min(120, this.#widthPx * 0.31);
    return this.#widthPx < 1_000 ? 240 : 300;
  }

  get offsetMs(): number {
    return this.#offsetMs;
  }

  themeChanged(): void {
    this.#palette = readPalette();
    this.#stripes = undefined;
    this.#app.invalidate();
  }

  draw(): void {
    const { placed } = this.#app.placed();
    const { scrollTop } = this.#scroller;
    this.blocks = visible(placed, scrollTop, scrollTop + this.#heightPx).map((one) => ({
      ...one,
      yPx: one.topPx - scrollTop,
    }));
    const context = this.#canvas.getContext("2d");
    const axis = this.#axis.getContext("2d");
    if (!context || !axis || this.#widthPx === 0) return;
    drawElections(this.#scene(context, this.#heightPx), this.blocks);
    drawAxis(this.#scene(axis, this.#axis.clientHeight));
  }

  #scene(context: CanvasRenderingContext2D, heightPx: number): Scene {
    const { range, timeline, facts, selected } = this.#app;
    this.#stripes ??= { gap: hatch(context, this.#palette.hatch), lost: hatch(context, this.#palette.lost) };
    return {
      context,
      palette: this.#palette,
      stripes: this.#stripes,
      range,
      leftPx: this.leftPx,
      widthPx: this.#widthPx - this.leftPx,
      heightPx,
      nowMs: this.#app.nowMs(),
      offsetMs: this.#offsetMs,
      isRecording: facts.isRecording,
      blind: timeline.blind,
      selected,
    };
  }

  #resize(): void {
    const { clientWidth, clientHeight } = this.#scroller;
    this.#widthPx = clientWidth;
    this.#heightPx = clientHeight;
    this.#canvas.style.height = `${clientHeight}px`;
    // The list lies over the canvas: together they are as high as the list.
    this.#canvas.style.marginBottom = `${-clientHeight}px`;
    for (const canvas of [this.#canvas, this.#axis]) {
      const ratio = devicePixelRatio;
      canvas.width = Math.round(clientWidth * ratio);
      canvas.height = Math.round((canvas === this.#axis ? canvas.clientHeight : clientHeight) * ratio);
      canvas.getContext("2d")?.setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    // The axis has no scroll bar beside it.
    this.#axis.style.width = `${clientWidth}px`;
    this.#app.invalidate();
  }

  #hit(event: PointerEvent | MouseEvent) {
    const box = this.#canvas.getBoundingClientRect();
    const view = {
      range: this.#app.range,
      leftPx: this.leftPx,
      widthPx: this.#widthPx - this.leftPx,
      nowMs: this.#app.nowMs(),
    };
    return hitAt(view, this.blocks, event.clientX - box.left, event.clientY - box.top, this.#offsetMs);
  }

  #listen(): void {
    const canvas = this.#canvas;
    let pressed: { x: number; range: App["range"] } | undefined;
    const pinch = new Map<number, number>();
    let isDrag = false;
    canvas.addEventListener("pointerdown", (event) => {
      pinch.set(event.pointerId, event.clientX);
      pressed = { x: event.clientX, range: this.#app.range };
      isDrag = false;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!pressed) return this.#showTip(event);
      if (pinch.size === 2) return this.#pinch(pinch, event);
      const movedPx = event.clientX - pressed.x;
      if (!isDrag && Math.abs(movedPx) < dragPx) return undefined;
      isDrag = true;
      canvas.classList.add("dragged");
      this.#hideTip();
      this.#app.show(pan(pressed.range, -movedPx / (this.#widthPx - this.leftPx)));
      return undefined;
    });
    const release = (event: PointerEvent) => {
      pinch.delete(event.pointerId);
      canvas.classList.remove("dragged");
      if (pressed && !isDrag && event.type === "pointerup") {
        const hit = this.#hit(event);
        if (hit) this.#app.select(hit.line.key);
      }
      pressed = undefined;
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointerleave", () => this.#hideTip());
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
  }

  /** The wheel scrolls the list; with Ctrl it zooms, and sideways it moves in time. */
  #wheel(event: WheelEvent): void {
    const sideways = event.shiftKey ? event.deltaY : event.deltaX;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const box = this.#canvas.getBoundingClientRect();
      const view = { range: this.#app.range, leftPx: this.leftPx, widthPx: this.#widthPx - this.leftPx };
      this.zoomAt(Math.exp(event.deltaY * 0.004), msOf(view, event.clientX - box.left));
    } else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
      event.preventDefault();
      this.#app.show(pan(this.#app.range, sideways / (this.#widthPx - this.leftPx)));
    }
  }

  #pinch(pinch: Map<number, number>, event: PointerEvent): void {
    const [a = 0, b = 0] = [...pinch.values()];
    pinch.set(event.pointerId, event.clientX);
    const [c = 0, d = 0] = [...pinch.values()];
    const factor = Math.abs(a - b) / Math.max(Math.abs(c - d), 1);
    this.zoomAt(Math.min(Math.max(factor, 0.5), 2));
  }

  /** @param aroundMs by default the present in the live view, otherwise the middle */
  zoomAt(factor: number, aroundMs?: number): void {
    const { range, isLive } = this.#app;
    const middleMs = isLive ? this.#app.nowMs() : (range.fromMs + range.toMs) / 2;
    this.#app.show(zoom(range, factor, aroundMs ?? middleMs), isLive);
  }

  #showTip(event: PointerEvent): void {
    const hit = this.#hit(event);
    if (hit?.text === undefined || event.pointerType === "touch") {
      this.#hideTip();
      return;
    }
    setText(this.#tip, hit.text);
    this.#tip.hidden = false;
    const { width, height } = this.#tip.getBoundingClientRect();
    this.#tip.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - width - 8))}px`;
    this.#tip.style.top = `${event.clientY + 18 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 18}px`;
  }

  #hideTip(): void {
    this.#tip.hidden = true;
  }
}
