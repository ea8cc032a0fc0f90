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
];
