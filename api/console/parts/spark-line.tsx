const WIDTH = 160;
const HEIGHT = 32;
const EDGE = 3;

/** A line without axes; where a value is missing there is a gap, and a lone value is a dot. */
export function SparkLine({
  values,
  label,
}: {
  values: readonly (number | null)[];
  label: string;
}) {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return null;
  const max = Math.max(...known, 1);
  const stepX = values.length < 2 ? 0 : (WIDTH - 2 * EDGE) / (values.length - 1);
  const point = (value: number, index: number) => ({
    x: EDGE + index * stepX,
    y: HEIGHT - EDGE - (value / max) * (HEIGHT - 2 * EDGE),
  });
  let isPen = false;
  const path = values
    .map((value, index) => {
      if (value === null) {
        isPen = false;
        return "";
      }
      const { x, y } = point(value, index);
      const command = isPen ? "L" : "M";
      isPen = true;
      return `${command}${x.toFixed(1)} ${y.toFixed(1)}`;
    })
    .join("");
  const last = values.at(-1);
  const end = typeof last === "number" ? point(last, values.length - 1) : undefined;
  return (
    <svg width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <path d={path} fill="none" stroke="var(--accent)" strokeWidth="2" strokeLinejoin="round" />
      {end === undefined ? null : <circle cx={end.x} cy={end.y} r="3" fill="var(--accent)" />}
    </svg>
  );
}
