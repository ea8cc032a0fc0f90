const NUMBER_WORDS = [
  "zero",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
  "eleven",
  "twelve",
];
const OPERATIONS: readonly (readonly [pattern: string, apply: (a: number, b: number) => number])[] =
  [
    ["plus|\\+", (a, b) => a + b],
    ["minus|-", (a, b) => a - b],
    ["times|multiplied by|\\*|x", (a, b) => a * b],
    ["divided by|\\/", (a, b) => a / b],
  ];
const NUMBER = `-?\\d+(?:\\.\\d+)?|${NUMBER_WORDS.join("|")}`;

/** The first sum of two numbers in a sentence: `what is two plus 3.5`. */
export function sumIn(
  text: string,
): { readonly words: string; readonly result: number } | undefined {
  for (const [pattern, apply] of OPERATIONS) {
    const found = new RegExp(
      `(?<![\\w.])(${NUMBER})\\s*(?:${pattern})\\s*(${NUMBER})(?!\\w)`,
      "i",
    ).exec(text);
    if (found === null) continue;
    const result = apply(numberOf(found[1] ?? ""), numberOf(found[2] ?? ""));
    if (Number.isFinite(result))
      return { words: found[0], result: Math.round(result * 1000) / 1000 };
  }
  return undefined;
}

function numberOf(word: string): number {
  const index = NUMBER_WORDS.indexOf(word.toLowerCase());
  return index >= 0 ? index : Number(word);
}
