/** What became of the words that were to be heard. */
export interface ComparedWords {
  readonly lost: number;
  readonly twice: number;
  /** Beginnings of words that broke off and were said anew at once: no voice can go on in the middle of another's word. */
  readonly brokenOff: number;
}

/** Counts by word: the order is the same wherever nothing is lost and nothing comes twice. */
export function comparedWords(expectedText: string, actualText: string): ComparedWords {
  const expected = wordsIn(expectedText);
  const actual = wordsIn(actualText);
  const missing = [...expected];
  let twice = 0;
  let brokenOff = 0;
  for (const [at, word] of actual.entries()) {
    const place = missing.indexOf(word);
    if (place !== -1) missing.splice(place, 1);
    else if (isBegunAnew(word, actual[at + 1]) && !expected.includes(word)) brokenOff += 1;
    else twice += 1;
  }
  return { lost: missing.length, twice, brokenOff };
}

function isBegunAnew(word: string, next: string | undefined): boolean {
  return next !== undefined && next !== word && next.startsWith(word);
}

function wordsIn(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
}
