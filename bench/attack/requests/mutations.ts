import type { SeededRandom } from "../../../test/simulation/seeded-random.js";

const ODD_VALUES = [
  "null",
  "-1",
  "0",
  "1e308",
  "99999999999999999999",
  '""',
  "[]",
  "{}",
  "true",
  '"\\u0000"',
  '"\\ud800"',
  `"${"x".repeat(5_000)}"`,
];
const VALUE = /"(?:[^"\\]|\\.)*"(?!\s*:)|-?\d+(?:\.\d+)?|true|false|null/g;

/** So many bytes or fewer, at least one. */
export function someBytes(random: SeededRandom, sizeMax: number): Buffer {
  const size = random.whole(1, sizeMax);
  return Buffer.from(Uint8Array.from({ length: size }, () => random.whole(0, 255)));
}

/** JSON in which one value is another, or which is cut, or has a character too many. */
export function mutatedText(json: string, random: SeededRandom): string {
  const at = random.whole(0, json.length);
  const dice = random.fraction();
  if (dice < 0.15) return json.slice(0, at);
  if (dice < 0.3)
    return json.slice(0, at) + String.fromCharCode(random.whole(1, 0xffff)) + json.slice(at);
  const values = [...json.matchAll(VALUE)];
  const value = values.length === 0 ? undefined : random.pick(values);
  if (value === undefined) return json;
  const end = value.index + value[0].length;
  return json.slice(0, value.index) + random.pick(ODD_VALUES) + json.slice(end);
}
