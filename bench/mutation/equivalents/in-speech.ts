import type { EquivalentMutant } from "./equivalent-mutant.js";

type Changes = readonly (readonly [code: string, original: string, replacement: string])[];

/** Those of one module that have one reason. */
function equivalents(sourcePath: string, reason: string, changes: Changes): EquivalentMutant[] {
  return changes.map(([code, original, replacement]) => ({
    sourcePath,
    code,
    original,
    replacement,
    reason,
  }));
}

export const IN_SPEECH: readonly EquivalentMutant[] = [
  ...equivalents(
    "engine/speech/sentence-splitter.ts",
    "what the quick way would take is read character by character, to the same sentences",
    [
      [
        'if (state.pending === "" || state.scanned < state.pending.length)',
        'state.pending === "" || state.scanned < state.pending.length',
        "true",
      ],
      ['if (state.pending === "" || state.scanned < state.pending.length)', "<", "<="],
      ["if (isTerminator(code))", "isTerminator(code)", "true"],
      ["if (isPausedBySpace(code))", "isPausedBySpace(code)", "true"],
      [
        "if (isPausedBySpace(state.pending.charCodeAt(state.pending.length - 1))) {",
        "isPausedBySpace(state.pending.charCodeAt(state.pending.length - 1))",
        "true",
      ],
      ["if (weight > limit)", "weight > limit", "true"],
      ["if (weight > limit)", ">", ">="],
    ],
  ),
  ...equivalents(
    "engine/speech/sentence-splitter.ts",
    "the same text is looked through again, and holds no end of a clause",
    [
      [
        "if (reading.weight > limit && !mayEndClause(text, index))",
        "reading.weight > limit && !mayEndClause(text, index)",
        "false",
      ],
    ],
  ),
  ...equivalents(
    "engine/speech/sentence-splitter.ts",
    "no clause is looked for in a text that is shorter than the least one",
    [
      [
        "for (let weight = 0; weight < CLAUSE_WEIGHT_MIN && index < text.length; index += 1) {",
        "<",
        "<=",
      ],
    ],
  ),
  ...equivalents("engine/speech/sentence-splitter.ts", "behind the text stands no space", [
    ["while (start < text.length && isSpace(text.charCodeAt(start)))", "<", "<="],
  ]),
  ...equivalents("engine/speech/sentence-cut.ts", "what begins behind the end holds no word", [
    ["for (let index = to - 1; index > from; index -= 1) {", "-", "+"],
  ]),
  ...equivalents(
    "engine/speech/sentence-cut.ts",
    "no text without a character is cut, and the first word of any begins at 0",
    [["let last = 0;", "0", "1"]],
  ),
  ...equivalents(
    "engine/speech/sentence-cut.ts",
    "where a character begins does not depend on what follows it",
    [["const window = text.slice(start, to + 2);", "2", "3"]],
  ),
  ...equivalents(
    "engine/speech/sentence-boundary.ts",
    "it only has to differ from every index and from the other name",
    [["export const UNDECIDED = -2;", "2", "3"]],
  ),
  ...equivalents(
    "engine/speech/sentence-boundary.ts",
    "from there on no letter is found, so the word is empty as well",
    [["if (from === NOT_A_BOUNDARY)", "from === NOT_A_BOUNDARY", "false"]],
  ),
  ...equivalents("engine/speech/sentence-boundary.ts", "behind the text stands no letter", [
    ["while (to < text.length && to - from < WORD_MAX && LETTER.test(text.charAt(to)))", "<", "<="],
  ]),
  ...equivalents(
    "engine/speech/phrase-list.ts",
    "longer runs of words are looked up too, and are no phrases",
    [
      ["#wordsMax = 1;", "1", "2"],
      [
        "for (let from = Math.max(0, end - this.#wordsMax); from < end; from += 1) {",
        "Math.max",
        "Math.min",
      ],
    ],
  ),
  ...equivalents(
    "engine/speech/phrase-list.ts",
    "no run of words without a word is behind whole phrases yet",
    [["for (let from = Math.max(0, end - this.#wordsMax); from < end; from += 1) {", "<", "<="]],
  ),
  ...equivalents("engine/speech/call-summary.ts", "behind the text stands no character", [
    ["for (let index = from; index < text.length; index += 1) {", "<", "<="],
  ]),
  ...equivalents(
    "engine/speech/call-summary.ts",
    "every number below zero says that there is none",
    [["return -1;", "1", "2"]],
  ),
  ...equivalents("engine/speech/call-summary.ts", "no object ends before its first brace", [
    ["if (to < 0)", "0", "1"],
  ]),
  ...equivalents(
    "engine/speech/late-words.ts",
    "what is reckoned with an unknown time is no number, and not enough",
    [
      [
        "if (lastWordEndMs === undefined || guessEndMs === undefined)",
        "lastWordEndMs === undefined || guessEndMs === undefined",
        "false",
      ],
      ["if (lastWordEndMs === undefined || guessEndMs === undefined)", "||", "&&"],
    ],
  ),
  ...equivalents(
    "engine/speech/late-words.ts",
    "there are no more words than characters, so it is refused a few lines later",
    [["if (laterMs < 0 || laterMs >= text.length * MS_PER_WORD_MIN)", ">=", ">"]],
  ),
  ...equivalents("engine/audio/resampler.ts", "only as many results are given as are missing", [
    ["const silence = new Int16Array((DECIMATOR_DELAY + 1) * this.#factor);", "1", "2"],
  ]),
  ...equivalents(
    "engine/audio/resampler.ts",
    "the other resampler has the same filter: up to a rounding the same sound, for more time",
    [["if (rateHz % targetHz === 0)", "%", "*"]],
  ),
  ...equivalents(
    "engine/audio/rational-resampler.ts",
    "they are designed anew each time, and are the same",
    [
      ["phasesOf.set(name, known);", "phasesOf.set(name, known);", ";"],
      ["if (known === undefined) {", "known === undefined", "true"],
    ],
  ),
  ...equivalents(
    "engine/audio/decimator.ts",
    "they are designed anew each time, and are the same",
    [
      ["phasesOf.set(factor, phases);", "phasesOf.set(factor, phases);", ";"],
      ["if (phases === undefined) {", "phases === undefined", "true"],
    ],
  ),
  ...equivalents(
    "engine/audio/speech-conversion.ts",
    "of no samples nothing is made, and the rate is told again with the first",
    [
      [
        "if (left === undefined || right === undefined || samplesDecoded === 0)",
        "left === undefined || right === undefined || samplesDecoded === 0",
        "false",
      ],
    ],
  ),
  ...equivalents(
    "engine/audio/speech-conversion.ts",
    "the result behind the last one lies outside of the array, which takes nothing there",
    [["for (let index = 0; index < samplesDecoded; index += 1) {", "<", "<="]],
  ),
  ...equivalents("engine/audio/mulaw.ts", "nothing is looked up behind the end of the table", [
    [
      "const MULAW_CODES = Uint8Array.from({ length: 1 << 14 }, (_, top) => mulawCode((top << 18) >> 16));",
      "1",
      "2",
    ],
    [
      "const ALAW_CODES = Uint8Array.from({ length: 1 << 13 }, (_, top) => alawCode((top << 19) >> 16));",
      "1",
      "2",
    ],
  ]),
  ...equivalents("engine/audio/audio-thread.ts", "the numbers of queues only have to differ", [
    ["#lastQueueId = 0;", "0", "1"],
    ["this.#lastQueueId += 1;", "+=", "-="],
    ["this.#lastQueueId += 1;", "1", "2"],
  ]),
  ...equivalents(
    "engine/audio/fir-kernel.ts",
    "one result after the other is the same, for twice the time",
    [["for (; at + 4 <= count; at += 4) {", "at + 4 <= count", "false"]],
  ),
  ...equivalents(
    "engine/audio/pacer.ts",
    "a frame is sent only of what waits, which the compiler cannot know",
    [["if (piece === undefined)", "piece === undefined", "false"]],
  ),
  ...equivalents(
    "engine/audio/low-pass.ts",
    "the series has converged long before: one term more changes no bit of the sum",
    [["for (let order = 1; order < BESSEL_TERMS; order += 1) {", "<", "<="]],
  ),
];
