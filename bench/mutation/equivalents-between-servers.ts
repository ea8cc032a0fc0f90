import type { EquivalentMutant } from "./equivalent-mutant.js";

/** Faults of what servers, their processes and telephone vendors say to each other that nobody can see. */
export const BETWEEN_SERVERS: readonly EquivalentMutant[] = [
  {
    sourcePath: "engine/telephony/media-scanner.ts",
    code: "payloadStart = 0;",
    original: "0",
    replacement: "1",
    reason: "every scan sets it before it is read",
  },
  {
    sourcePath: "engine/telephony/media-scanner.ts",
    code: "payloadEnd = 0;",
    original: "0",
    replacement: "1",
    reason: "every scan sets it before it is read",
  },
  {
    sourcePath: "engine/telephony/media-scanner.ts",
    code: "chunk = -1;",
    original: "1",
    replacement: "2",
    reason: "every scan sets it before it is read",
  },
  {
    sourcePath: "engine/telephony/media-scanner.ts",
    code: "#isDone = false;",
    original: "false",
    replacement: "true",
    reason: "every scan sets it before it is read",
  },
  {
    sourcePath: "engine/telephony/base64-audio.ts",
    code: "if (this.#last.length !== size)",
    original: "this.#last.length !== size",
    replacement: "true",
    reason: "another view of the same bytes is made, where the one before would do",
  },
  {
    sourcePath: "engine/telephony/asterisk/audio-socket-wire.ts",
    code: "#unread = Buffer.alloc(0);",
    original: "0",
    replacement: "1",
    reason: "its length says how much of it is taken, and that is nothing yet",
  },
  {
    sourcePath: "engine/nodes/letter-parts.ts",
    code: "let bytesLeft = 0;",
    original: "0",
    replacement: "1",
    reason: "no item is so short",
  },
  {
    sourcePath: "engine/box/link.ts",
    code: "#lastId = 0;",
    original: "0",
    replacement: "1",
    reason: "any number is as good as long as no other question has it",
  },
  {
    sourcePath: "engine/box/link.ts",
    code: "this.#lastId += 1;",
    original: "1",
    replacement: "2",
    reason: "any number is as good as long as no other question has it",
  },
  ...(["+=", "1"] as const).map((original) => ({
    sourcePath: "engine/nodes/node-registry.ts",
    code: "this.#tidyCount += 1;",
    original,
    replacement: original === "1" ? "2" : "-=",
    reason:
      "of fifteen heartbeats one is a multiple of fifteen, by steps of one or two, up or down",
  })),
  {
    sourcePath: "engine/nodes/node-registry.ts",
    code: "while (clock.monotonicMs() < endMs) {",
    original: "<",
    replacement: "<=",
    reason: "the end does not fall on a heartbeat",
  },
  {
    sourcePath: "engine/security/derived-uuid.ts",
    code: "const variant = ((Number.parseInt(hex.slice(16, 17), 16) % 4) + 8).toString(16);",
    original: "16",
    replacement: "17",
    reason: "of one hexadecimal digit, and of 8 to 11, digits of seventeen kinds make the same",
  },
  {
    sourcePath: "engine/security/access-token.ts",
    code: "if (!(error instanceof errors.JWSSignatureVerificationFailed))",
    original: "!(error instanceof errors.JWSSignatureVerificationFailed)",
    replacement: "false",
    reason: "what is wrong with a token under one key is wrong under the older ones, too",
  },
];
