/** What the colours and signs mean. */
import { byId, element } from "./dom.ts";
import { hatch, readPalette } from "./palette.ts";

export function startLegend(): () => void {
  const legend = byId("legend");
  const button = byId("legend-button");
  const draw = () => {
    const palette = readPalette();
    const entries: readonly [string, (context: CanvasRenderingContext2D) => void][] = [
      ["leads", (context) => bar(context, palette.leads)],
      ["handed over", (context) => bar(context, palette.handed)],
      [
        "lease expired; striped after the last renewal",
        (context) => {
          bar(context, palette.lost, 16);
          context.fillStyle = hatch(context, palette.lost);
          context.fillRect(16, 1, 18, 12);
        },
      ],
      ["taken over, or lock deleted", (context) => bar(context, palette.other)],
      [
        "nobody led",
        (context) => {
          context.fillStyle = hatch(context, palette.hatch);
          context.fillRect(0, 1, 34, 12);
        },
      ],
      [
        "work that the replica reported",
        (context) => {
          context.fillStyle = palette.text;
          context.fillRect(0, 6, 34, 2);
        },
      ],
      [
        "renewals",
        (context) => {
          context.fillStyle = palette.soft;
          for (let x = 2; x < 34; x += 8) context.fillRect(x, 4, 1, 6);
        },
      ],
      [
        "deadline of the work",
        (context) => {
          context.fillStyle = palette.stopping;
          context.beginPath();
          context.moveTo(12, 3);
          context.lineTo(22, 3);
          context.lineTo(17, 12);
          context.fill();
        },
      ],
      [
        "expiry of the lease",
        (context) => {
          context.fillStyle = palette.lost;
          context.fillRect(16, 0, 2, 14);
        },
      ],
      [
        "not observed",
        (context) => {
          context.fillStyle = palette.blind;
          context.fillRect(0, 0, 34, 14);
        },
      ],
    ];
    legend.replaceChildren(...entries.map(([text, paint]) => entry(text, paint)));
  };
  button.addEventListener("click", () => {
    legend.hidden = !legend.hidden;
    button.setAttribute("aria-expanded", String(!legend.hidden));
  });
  return draw;
}

function entry(text: string, paint: (context: CanvasRenderingContext2D) => void): HTMLElement {
  const canvas = element("canvas", { "aria-hidden": "true" });
  canvas.width = 68;
  canvas.height = 28;
  const context = canvas.getContext("2d");
  if (context) {
    context.scale(2, 2);
    paint(context);
  }
  return element("span", {}, canvas, text);
}

function bar(context: CanvasRenderingContext2D, colour: string, widthPx = 34): void {
  context.fillStyle = colour;
  context.beginPath();
  context.roundRect(0, 1, widthPx, 12, 3);
  context.fill();
}
