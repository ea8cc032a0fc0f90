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
];
