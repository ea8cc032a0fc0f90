import type { EquivalentMutant } from "./equivalent-mutant.js";

export const IN_TURNS: readonly EquivalentMutant[] = [
  {
    sourcePath: "engine/session/playback/playout-delay.ts",
    code: "const shortMs = needs.findLast((needMs) => needMs <= SHORT_DELAY_MS) ?? 0;",
    original: "0",
    replacement: "1",
    reason: "where no wait is short, the one that is enough is longer than either",
  },
  {
    sourcePath: "engine/session/transition.ts",
    code: 'const isShaped = after === state || event.type === "replyToken";',
    original: '"replyToken"',
    replacement: '"mutated"',
    reason: "the state is copied once more, field by field, and is the same",
  },
  {
    sourcePath: "engine/speech/character-class.ts",
    code: "if (code < 0x80)",
    original: "<",
    replacement: "<=",
    reason: "the character 0x80 is neither a space nor a mark on either path",
  },
  {
    sourcePath: "engine/session/playback/speech-cache.ts",
    code: "this.#saidOnce.set(sign, true);",
    original: "true",
    replacement: "false",
    reason: "it is only asked whether there is something",
  },
  {
    sourcePath: "engine/speech/call-summary.ts",
    code: "if (to < 0)",
    original: "<",
    replacement: "<=",
    reason: "an object ends behind its first character, or nowhere",
  },
  {
    sourcePath: "engine/speech/echo-guard.ts",
    code: "return played[Math.min(to + length - 1 - lastHeard, played.length - 1)]?.endsAtMs ?? 0;",
    original: "0",
    replacement: "1",
    reason: "the place is one of what was played",
  },
  {
    sourcePath: "engine/speech/late-words.ts",
    code: "const rest = restAfter(text, said[next - 1]?.end ?? 0);",
    original: "0",
    replacement: "1",
    reason: "a word was matched by then, so there is always one before the next",
  },
  {
    sourcePath: "engine/session/playback/leg-audio.ts",
    code: 'name: "mp3",',
    original: '"mp3"',
    replacement: '"mutated"',
    reason: "the other names hold a slash, so that any word tells it from them",
  },
  {
    sourcePath: "engine/session/turn-taking/waiting-words.ts",
    code: "const sentence = { ...whole, slot, attempt: 1, grewAtMs: atMs, came: undefined };",
    original: "1",
    replacement: "2",
    reason: "it is whole, and the tries of such a sentence are never counted",
  },
];
