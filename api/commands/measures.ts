const UNITS = ["kB", "MB", "GB", "TB"];

/** Decimal units, as disks are sold: `840 B`, `2.4 kB`, `13 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  let value = bytes;
  let unit = "";
  for (const larger of UNITS) {
    if (value < 999.5) break;
    value /= 1000;
    unit = larger;
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/** `0.4 ms`: for values whose tenths matter. */
export function preciseMs(durationMs: number): string {
  return `${durationMs.toFixed(1)} ms`;
}

/** `35 ms`, `1.4 s`. */
export function durationText(durationMs: number): string {
  return durationMs < 999.5
    ? `${Math.round(durationMs)} ms`
    : `${(durationMs / 1000).toFixed(1)} s`;
}
