import type { EquivalentMutant } from "./equivalent-mutant.js";

export const IN_TURN_TAKING: readonly EquivalentMutant[] = [
  {
    sourcePath: "engine/session/turn-taking/heard-clock.ts",
    code: "#atMs = 0;",
    original: "0",
    replacement: "1",
    reason: "before the first audio the stream's zero lies at infinity, whatever is added to it",
  },
  {
    sourcePath: "engine/session/turn-taking/own-echo.ts",
    code: "if (known !== undefined)",
    original: "known !== undefined",
    replacement: "false",
    reason: "the words of a sentence are made once more, and are the same",
  },
  {
    sourcePath: "engine/session/turn-taking/own-echo.ts",
    code: "wordsBySentence.set(sentence, words);",
    original: "wordsBySentence.set(sentence, words);",
    replacement: ";",
    reason: "the words of a sentence are made once more, and are the same",
  },
  {
    sourcePath: "engine/session/turn-taking/own-echo.ts",
    code: "export const NOTHING_SPOKEN = { ledger: EMPTY_LEDGER, untilMs: 0 };",
    original: "0",
    replacement: "1",
    reason: "nothing was played until then, whenever that was",
  },
  {
    sourcePath: "engine/speech/echo-guard.ts",
    code: "for (let from = 0; from < played.length; from += 1) {",
    original: "<",
    replacement: "<=",
    reason: "nothing is found from behind the last word on",
  },
  {
    sourcePath: "engine/speech/echo-match.ts",
    code: "let isCut = false;",
    original: "false",
    replacement: "true",
    reason: "a match of no word is no echo, and with every word found it is said anew",
  },
  {
    sourcePath: "engine/speech/echo-match.ts",
    code: "let firstHeard = 0;",
    original: "0",
    replacement: "1",
    reason: "a match of no word is no echo, and the first that is found says it anew",
  },
  {
    sourcePath: "engine/speech/echo-match.ts",
    code: "let othersInRow = 0;",
    original: "0",
    replacement: "1",
    reason: "one in a row and none are the same for a loudspeaker, and nobody else asks",
  },
];
