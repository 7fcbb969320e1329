/** The colours of the page, for the canvas. The style sheet defines them. */
export interface Palette {
  readonly ground: string;
  readonly line: string;
  readonly text: string;
  readonly soft: string;
  readonly leads: string;
  readonly handed: string;
  readonly lost: string;
  readonly other: string;
  readonly stopping: string;
  readonly hatch: string;
  readonly onBar: string;
  readonly overlap: string;
  readonly blind: string;
  readonly select: string;
}

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    ground: of("ground"),
    line: of("line"),
    text: of("text"),
    soft: of("soft"),
    leads: of("leads"),
    handed: of("handed"),
    lost: of("lost"),
    other: of("other"),
    stopping: of("stopping"),
    hatch: of("hatch"),
    onBar: of("on-bar"),
    overlap: of("overlap"),
    blind: of("blind"),
    select: of("select"),
  };
}

/** Stripes, for what is not certain or not there. */
export function hatch(context: CanvasRenderingContext2D, colour: string): CanvasPattern | string {
  const tile = document.createElement("canvas");
  tile.width = 6;
  tile.height = 6;
  const brush = tile.getContext("2d");
  if (!brush) return colour;
  brush.strokeStyle = colour;
  brush.lineWidth = 1.4;
  brush.beginPath();
  brush.moveTo(-1, 5);
  brush.lineTo(5, -1);
  brush.moveTo(1, 7);
  brush.lineTo(7, 1);
  brush.stroke();
  return context.createPattern(tile, "repeat") ?? colour;
}
