/** Durations for people: "41 ms", "15.2 s", "3 min 5 s". */
export function spell(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3_600) return pair(whole, 60, "min", "s");
  if (whole < 86_400) return pair(Math.round(whole / 60), 60, "h", "min");
  return pair(Math.round(whole / 3_600), 24, "d", "h");
}

function pair(value: number, per: number, large: string, small: string): string {
  const rest = value % per;
  const most = `${Math.floor(value / per)} ${large}`;
  return rest === 0 ? most : `${most} ${rest} ${small}`;
}
