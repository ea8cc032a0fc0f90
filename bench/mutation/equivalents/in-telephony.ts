import type { EquivalentMutant } from "./equivalent-mutant.js";

const FORMER_EPOCH = "any other number tells that a clear came between";
const NEVER_WITHOUT_VENDORS = "an agent is only active with all of its providers";

export const IN_TELEPHONY: readonly EquivalentMutant[] = [
  {
    sourcePath: "engine/telephony/pending-marks.ts",
    code: "#epoch = 0;",
    original: "0",
    replacement: "1",
    reason: FORMER_EPOCH,
  },
  {
    sourcePath: "engine/telephony/pending-marks.ts",
    code: "this.#epoch += 1;",
    original: "1",
    replacement: "2",
    reason: FORMER_EPOCH,
  },
  {
    sourcePath: "engine/telephony/chunk-order.ts",
    code: "if (chunk === this.#next && this.#held.size === 0) {",
    original: "chunk === this.#next && this.#held.size === 0",
    replacement: "false",
    reason: "the piece is held for no time, and comes out the same",
  },
  {
    sourcePath: "engine/telephony/media-stream.ts",
    code: "if (bytes !== undefined)",
    original: "bytes !== undefined",
    replacement: "false",
    reason: "the message is parsed as a whole, to the same event",
  },
  {
    sourcePath: "engine/telephony/media-stream.ts",
    code: 'if (this.#dialect.audioIn === "json" && this.#scanner.scan(frame)) {',
    original: '"json"',
    replacement: '"mutated"',
    reason: "without the scanner the message is parsed as a whole, to the same event",
  },
  {
    sourcePath: "engine/telephony/media-stream.ts",
    code: "const whole = excess === 0 ? bytes : bytes.subarray(0, bytes.length - excess);",
    original: "excess === 0",
    replacement: "false",
    reason: "a view of all bytes holds the same bytes",
  },
  {
    sourcePath: "engine/telephony/twilio/twilio-signature.ts",
    code: ".sort(([one], [other]) => (one < other ? -1 : 1))",
    original: "<",
    replacement: "<=",
    reason: "each name is there once",
  },
  {
    sourcePath: "engine/telephony/twilio/twilio-signature.ts",
    code: ".sort(([one], [other]) => (one < other ? -1 : 1))",
    original: "1",
    replacement: "2",
    reason: "of what a comparison answers only the sign counts",
  },
  {
    sourcePath: "engine/security/access-token.ts",
    code: "if (known !== undefined)",
    original: "known !== undefined",
    replacement: "false",
    reason: "what is checked anew comes to the same claims, and only costs more",
  },
  {
    sourcePath: "engine/security/stream-token.ts",
    code: "...(usedMax === undefined ? {} : { usedMax }),",
    original: "usedMax === undefined",
    replacement: "false",
    reason: "what is given as undefined gets the default as well",
  },
  {
    sourcePath: "engine/tenancy/agents/agent-for-call.ts",
    code: "if (llm === undefined || tts === undefined || stt === undefined) {",
    original: "llm === undefined || tts === undefined || stt === undefined",
    replacement: "false",
    reason: NEVER_WITHOUT_VENDORS,
  },
  {
    sourcePath: "engine/tenancy/agents/agent-for-call.ts",
    code: "if (llm === undefined || tts === undefined || stt === undefined) {",
    original: "||",
    replacement: "&&",
    reason: NEVER_WITHOUT_VENDORS,
  },
  {
    sourcePath: "engine/telephony/asterisk/asterisk-wire.ts",
    code: "let isJson = false;",
    original: "false",
    replacement: "true",
    reason: "the start says it, and nothing is said before it",
  },
  {
    sourcePath: "engine/telephony/asterisk/audio-socket-wire.ts",
    code: "const RATES_HZ = [PHONE_RATE_HZ, 12_000, 16_000, 24_000, 32_000, 44_100, 48_000, 96_000, 192_000];",
    original: "12_000",
    replacement: "24000",
    reason: "the rate that the operator says, or its default, always takes its place",
  },
  {
    sourcePath: "engine/telephony/asterisk/audio-socket-wire.ts",
    code: "frame[2] = payload.length & 0xff;",
    original: "0xff",
    replacement: "510",
    reason: "the array takes the last byte alone, and whole samples have an even length",
  },
  ...(
    [
      [
        "if (this.#unreadLength === 0)",
        "this.#unreadLength === 0",
        "false",
        "the piece is copied first, and read the same",
      ],
      [
        "if (length > this.#unread.length) {",
        ">",
        ">=",
        "memory that is just large enough is made anew, with the same in it",
      ],
      [
        "const larger = Buffer.allocUnsafeSlow(Math.max(length, this.#unread.length * 2));",
        "2",
        "3",
        "how much room there is for more is not seen",
      ],
      [
        "const isInPlace = from === 0 && this.#unreadLength > 0;",
        "0",
        "1",
        "what is in its place already is copied, and read the same",
      ],
      [
        "this.#unreadLength = this.#hasEnded ? 0 : rest;",
        "0",
        "1",
        "after the end nothing is read",
      ],
      [
        "this.#unreadLength = this.#hasEnded ? 0 : rest;",
        "this.#hasEnded",
        "false",
        "after the end nothing is read",
      ],
    ] as const
  ).map(([code, original, replacement, reason]) => ({
    sourcePath: "engine/telephony/asterisk/audio-socket-wire.ts",
    code,
    original,
    replacement,
    reason,
  })),
  {
    sourcePath: "engine/telephony/media-scanner.ts",
    code: "if (this.payloadStart > 0 || !this.#findPayload())",
    original: "0",
    replacement: "1",
    reason: "no payload stands in the first two places",
  },
  {
    sourcePath: "engine/telephony/media-scanner.ts",
    code: "if (tailAt >= this.payloadStart && matches(frame, tailAt, TAIL)) {",
    original: ">=",
    replacement: ">",
    reason: "the end of an empty payload is found by reading on, too",
  },
  {
    sourcePath: "engine/telephony/media-scanner.ts",
    code: "return length === 1 || (length > 1 && this.#frame[start] !== ZERO);",
    original: ">",
    replacement: ">=",
    reason: "one digit is taken before",
  },
  {
    sourcePath: "engine/telephony/base64-audio.ts",
    code: "#memory = Buffer.alloc(0);",
    original: "0",
    replacement: "1",
    reason: "there is always memory for what comes, however little was there before",
  },
  {
    sourcePath: "engine/telephony/phone-format.ts",
    code: "if (piece.length === frameBytes)",
    original: "piece.length === frameBytes",
    replacement: "false",
    reason: "a whole frame is copied, and holds the same",
  },
  ...(
    [
      ["return name < otherName ? -1 : 1;", "<", "<=", "names are only compared that differ"],
      ["return name < otherName ? -1 : 1;", "1", "2", "only the sign is looked at"],
      ["return value < otherValue ? -1 : 1;", "<", "<=", "of equal values either may come first"],
      ["return value < otherValue ? -1 : 1;", "1", "2", "only the sign is looked at"],
    ] as const
  ).map(([code, original, replacement, reason]) => ({
    sourcePath: "engine/telephony/plivo/plivo-signature.ts",
    code,
    original,
    replacement,
    reason,
  })),
  {
    sourcePath: "engine/telephony/call-control.ts",
    code: "this.#pending.delete(work);",
    original: "this.#pending.delete(work);",
    replacement: ";",
    reason: "what was answered keeps nobody waiting",
  },
  {
    sourcePath: "engine/telephony/twilio/twilio-signature.ts",
    code: 'const library = scheme.toLowerCase() === "https://" ? 443 : 80;',
    original: "443",
    replacement: "886",
    reason: "of https the port that the vendor's servers add is tried as well, and is the same",
  },
  ...(
    [
      ["0", "1"],
      ["<", "<="],
    ] as const
  ).map(([original, replacement]) => ({
    sourcePath: "engine/telephony/twilio/twilio-signature.ts",
    code: "return at < 0 ? url : `${url.slice(0, at)}?${stringify(parse(url.slice(at + 1)))}`;",
    original,
    replacement,
    reason: "an address does not begin with its query",
  })),
  {
    sourcePath: "engine/telephony/vonage/vonage-ncco.ts",
    code: '{ action: "talk", text, ...(language === undefined ? {} : { language }) },',
    original: "language === undefined",
    replacement: "false",
    reason: "JSON leaves out what is undefined",
  },
  {
    sourcePath: "engine/telephony/vonage/vonage-signature.ts",
    code: "if (token === undefined)",
    original: "token === undefined",
    replacement: "false",
    reason: "the library refuses what is no token, too",
  },
];
