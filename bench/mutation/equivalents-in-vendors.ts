import type { EquivalentMutant } from "./equivalent-mutant.js";

export const IN_VENDORS: readonly EquivalentMutant[] = [
  {
    sourcePath: "engine/vendors/chain/paced-replay.ts",
    code: "#nextByte = 0;",
    original: "0",
    replacement: "1",
    reason: "each start sets it anew, and before the first nothing reads it",
  },
  {
    sourcePath: "engine/vendors/chain/paced-replay.ts",
    code: "#steppedMs = 0;",
    original: "0",
    replacement: "1",
    reason: "each start sets it anew, and before the first nothing reads it",
  },
  {
    sourcePath: "engine/vendors/chain/unsettled-audio.ts",
    code: "#voiceEndByte = 0;",
    original: "0",
    replacement: "1",
    reason: "it is read only once a voice has begun, which has set it",
  },
  {
    sourcePath: "engine/vendors/chain/unsettled-audio.ts",
    code: "if (byte <= this.#settledByte)",
    original: "<=",
    replacement: "<",
    reason: "of what is settled as far as before no voice lies in front of it",
  },
  {
    sourcePath: "engine/vendors/chain/answer-times.ts",
    code: "took(link, timeMs, promptTokens = 0) {",
    original: "0",
    replacement: "1",
    reason: "both are short prompts, which are counted together",
  },
  {
    sourcePath: "engine/vendors/chain/answer-times.ts",
    code: "lateAfterMs(link, promptTokens = 0) {",
    original: "0",
    replacement: "1",
    reason: "both are short prompts, which are counted together",
  },
  {
    sourcePath: "engine/vendors/chain/answer-times.ts",
    code: "givenUpAfterMs(link, maxMs, promptTokens = 0) {",
    original: "0",
    replacement: "1",
    reason: "both are short prompts, which are counted together",
  },
  {
    sourcePath: "engine/vendors/recognizer-stream/recognizer-stream.ts",
    code: "#garbageCount = 0;",
    original: "0",
    replacement: "1",
    reason: "the first connection, which the constructor attaches, sets it anew",
  },
  {
    sourcePath: "engine/vendors/recognizer-stream/audio-feed.ts",
    code: "const until = left === 1 ? toByte : this.#sentByte + bytesOfMs(this.#format, durationMs);",
    original: "left === 1",
    replacement: "false",
    reason: "the length of all that is left, in whole samples, leads to the same end",
  },
  {
    sourcePath: "engine/vendors/recognizer-stream/audio-feed.ts",
    code: "this.#ring.resize(Math.min(maxBytes, Math.max(neededBytes, 2 * capacityBytes)));",
    original: "*",
    replacement: "/",
    reason: "the memory grows in more steps, to as much as is needed at each",
  },
  {
    sourcePath: "engine/vendors/recognizer-stream/audio-feed.ts",
    code: "const neededBytes = endByte + sizeBytes - Math.max(this.#settledByte, startByte);",
    original: "Math.max",
    replacement: "Math.min",
    reason:
      "the memory grows sooner, up to the same bound, and holds what is sent again all the same",
  },
];
