/** The owners of shards or permits, as cells side by side, and their moves as marks on the time axis. */
import type { ElectionLine } from "../model/election.ts";
import { type Scene, xOf } from "./scene.ts";

export function drawShares(scene: Scene, { owners = [], replicas, moves }: ElectionLine, yPx: number): void {
  const { context, palette, leftPx, widthPx } = scene;
  const shades = [palette.leads, palette.handed, palette.stopping, palette.other, palette.lost, palette.soft];
  const numbers = new Map(replicas.map(({ id }, index) => [id, index]));
  const cellPx = Math.min(22, (widthPx - 8) / Math.max(owners.length, 1));
  for (const [share, owner] of owners.entries()) {
    const x = leftPx + 4 + share * cellPx;
    const number = numbers.get(owner) ?? -1;
    context.fillStyle = owner === "" ? scene.stripes.lost : (shades[number % shades.length] ?? palette.soft);
    context.fillRect(x, yPx + 4, Math.max(cellPx - 2, 1), 16);
    if (cellPx < 16 || owner === "") continue;
    // A sign beside the colour: which row of this election owns it.
    context.fillStyle = palette.onBar;
    context.fillText(String(number + 1), x + (cellPx - 2) / 2 - 3.5 * String(number + 1).length, yPx + 12);
  }
  context.fillStyle = palette.text;
  for (const { atMs } of moves) context.fillRect(xOf(scene, atMs), yPx + 22, 1, 5);
}
