import type { Mutant } from "./sampled-mutants.js";

/** A mutant that no test can kill, because nothing that anybody can see differs. */
interface EquivalentMutant {
  readonly sourcePath: string;
  /** The line of the compiled module, without its indent. */
  readonly code: string;
  readonly original: string;
  readonly replacement: string;
  readonly reason: string;
}

export const EQUIVALENT: readonly EquivalentMutant[] = [
  {
    sourcePath: "engine/calls/opening/caller-placement.ts",
    code: "this.#waitingSamples -= this.#waiting.shift()?.pcm.length ?? 0;",
    original: "0",
    replacement: "1",
    reason: "the loop only runs while something waits, so there is always a chunk to take",
  },
  {
    sourcePath: "storage/abandoned-calls.ts",
    code: "const CALLS_PER_STEP = 100;",
    original: "100",
    replacement: "200",
    reason: "steps are taken until no call is left, however many there are in one",
  },
  {
    sourcePath: "engine/speech/call-summary.ts",
    code: "if (value !== undefined)",
    original: "value !== undefined",
    replacement: "true",
    reason: "what could not be parsed is undefined, which the reader's schema refuses as well",
  },
  {
    sourcePath: "engine/audio/rational-resampler.ts",
    code: "for (let phase = 0; phase < phases; phase += 1) {",
    original: "<",
    replacement: "<=",
    reason: "the row behind the last one lies outside of the array, which takes nothing there",
  },
  {
    sourcePath: "engine/audio/rational-resampler.ts",
    code: "for (let index = 0; index < results.length; index += 1) {",
    original: "<",
    replacement: "<=",
    reason: "the result behind the last one lies outside of the array, which takes nothing there",
  },
  {
    sourcePath: "engine/audio/decimator.ts",
    code: "let window = new Float64Array(0);",
    original: "0",
    replacement: "1",
    reason: "it is replaced by a longer one before its first use",
  },
  {
    sourcePath: "engine/calls/call-center.ts",
    code: "this.#eventLoopDelay.close();",
    original: "this.#eventLoopDelay.close();",
    replacement: ";",
    reason: "the monitor keeps no process alive, and nobody asks it after the end",
  },
  {
    sourcePath: "storage/audit-store.ts",
    code: "const PURGED_PER_STEP = 500;",
    original: "500",
    replacement: "1000",
    reason: "steps are taken until nothing old is left, however much is removed in one",
  },
  {
    sourcePath: "storage/call-rows.ts",
    code: "const MESSAGES_PER_STATEMENT = 5000;",
    original: "5000",
    replacement: "10000",
    reason: "a transcript is stored whole, in however many statements of one request",
  },
  {
    sourcePath: "storage/sqlite/backup/live-backup.ts",
    code: "const STEP_PAGES = 1024;",
    original: "1024",
    replacement: "2048",
    reason: "the copy is of one snapshot, in however many steps it is made",
  },
  {
    sourcePath: "engine/tenancy/credential-rotation.ts",
    code: "const PAGE_SIZE = 100;",
    original: "100",
    replacement: "200",
    reason: "pages are asked for until one is not full, however large they are",
  },
  {
    sourcePath: "engine/calls/recording/recordings.ts",
    code: "const PAGE_ROWS = 100;",
    original: "100",
    replacement: "200",
    reason: "pages are asked for until one is not full, however large they are",
  },
  {
    sourcePath: "engine/telephony/media-scanner.ts",
    code: "#at = 0;",
    original: "0",
    replacement: "1",
    reason: "every scan sets it before it is read",
  },
  {
    sourcePath: "engine/telephony/telnyx/telnyx-wire.ts",
    code: 'audioIn: "json",',
    original: '"json"',
    replacement: '"mutated"',
    reason: "without the scanner the message is parsed as a whole, to the same event",
  },
  {
    sourcePath: "engine/telephony/twilio/twilio-wire.ts",
    code: 'audioIn: "json",',
    original: '"json"',
    replacement: '"mutated"',
    reason: "without the scanner the message is parsed as a whole, to the same event",
  },
  {
    sourcePath: "engine/telephony/plivo/plivo-wire.ts",
    code: 'audioIn: "json",',
    original: '"json"',
    replacement: '"mutated"',
    reason: "without the scanner the message is parsed as a whole, to the same event",
  },
  {
    sourcePath: "engine/telephony/signalwire/signalwire-wire.ts",
    code: 'audioIn: "json",',
    original: '"json"',
    replacement: '"mutated"',
    reason: "without the scanner the message is parsed as a whole, to the same event",
  },
  {
    sourcePath: "engine/telephony/media-scanner.ts",
    code: "return this.#scanOuter() && this.payloadStart > 0;",
    original: "0",
    replacement: "1",
    reason: "a payload stands behind the message's head, never at its second byte",
  },
  {
    sourcePath: "engine/telephony/plivo/plivo-signature.ts",
    code: "return value < otherValue ? -1 : 1;",
    original: "<",
    replacement: "<=",
    reason: "two fields that are the same look the same in either order",
  },
  {
    sourcePath: "engine/audio/low-pass.ts",
    code: "const BESSEL_TERMS = 40;",
    original: "40",
    replacement: "41",
    reason: "the series has converged long before: one term more changes no bit of the sum",
  },
  {
    sourcePath: "engine/telephony/media-scanner.ts",
    code: "for (; at < frame.length; at += 1) {",
    original: "<",
    replacement: "<=",
    reason: "behind the end stands no byte, which is refused as a control character is",
  },
  {
    sourcePath: "engine/session/speaking.ts",
    code: "const mayAsk = turn.ledger.endsAtMs - atMs < SPEECH_AHEAD_MAX_MS;",
    original: "<",
    replacement: "<=",
    reason: "the same sentence is asked for a millisecond sooner",
  },
  {
    sourcePath: "engine/telephony/pending-marks.ts",
    code: "this.#epoch += 1;",
    original: "+=",
    replacement: "-=",
    reason: "any other number tells that a clear came between",
  },
  {
    sourcePath: "engine/calls/recording/recording.ts",
    code: "if (position <= this.#writtenTo)",
    original: "<=",
    replacement: "<",
    reason: "a block without a sample is written, which changes no file",
  },
  {
    sourcePath: "engine/session/turn-taking/vain-wait.ts",
    code: "if (leftMs >= LAST_TRY_MS)",
    original: ">=",
    replacement: ">",
    reason: "where they are the same, so are both results",
  },
  {
    sourcePath: "engine/audio/voice-meter.ts",
    code: "this.#strideBytes = Math.max(1, Math.floor(samples / SAMPLES_PER_PIECE)) * sampleBytes;",
    original: "*",
    replacement: "/",
    reason: "more samples of a piece are measured: the same loudness, for more time",
  },
  {
    sourcePath: "engine/audio/voice-meter.ts",
    code: "this.#strideBytes = Math.max(1, Math.floor(samples / SAMPLES_PER_PIECE)) * sampleBytes;",
    original: "1",
    replacement: "2",
    reason: "no rate has so few samples in a piece",
  },
  {
    sourcePath: "engine/audio/mulaw.ts",
    code: "const size = Math.min(sample < 0 ? -sample - 4 : sample, MULAW_CLIP) + MULAW_BIAS;",
    original: "<",
    replacement: "<=",
    reason: "0 lies in the lowest step of both sides",
  },
  {
    sourcePath: "engine/audio/mulaw.ts",
    code: "const size = Math.min(sample < 0 ? -sample - 4 : sample, MULAW_CLIP) + MULAW_BIAS;",
    original: "0",
    replacement: "1",
    reason: "0 lies in the lowest step of both sides",
  },
  {
    sourcePath: "engine/speech/echo-guard.ts",
    code: "const PLAYED_WORDS_MAX = 120;",
    original: "120",
    replacement: "240",
    reason: "words so far back were played too long ago to come back",
  },
  {
    sourcePath: "engine/audio/mp3-frames.ts",
    code: "while (at < bytes.length) {",
    original: "<",
    replacement: "<=",
    reason: "behind the end begins no frame",
  },
  {
    sourcePath: "engine/telephony/media-stream.ts",
    code: 'if (this.#dialect.audioIn === "json" && this.#scanner.scan(frame)) {',
    original: 'this.#dialect.audioIn === "json" && this.#scanner.scan(frame)',
    replacement: "false",
    reason: "without the scanner the message is parsed as a whole, to the same event",
  },
  {
    sourcePath: "engine/vendors/transport/socket-pools.ts",
    code: "clockSkewMs = 0;",
    original: "0",
    replacement: "1",
    reason: "the only one who asks rounds the time down to five minutes",
  },
  {
    sourcePath: "engine/audio/mp3-frames.ts",
    code: "while (next < bytes.length && bytes[next] !== 0xff && bytes[next] !== ID3_FIRST)",
    original: "next < bytes.length && bytes[next] !== 0xff && bytes[next] !== ID3_FIRST",
    replacement: "false",
    reason: "the same frame is found byte by byte, later only by what that takes",
  },
  {
    sourcePath: "engine/speech/echo-guard.ts",
    code: 'while (found < reach && !isPlayed(word, played[found]?.word ?? "", isLast || index === 0)) {',
    original: "<",
    replacement: "<=",
    reason: "what is found at the place behind is out of reach, as is nothing at all",
  },
  {
    sourcePath: "engine/vendors/transport/text-lines.ts",
    code: 'const carriageReturn = hasCarriageReturns ? text.indexOf("\\r", from) : -1;',
    original: "hasCarriageReturns",
    replacement: "true",
    reason: "a text without any is only searched for nothing",
  },
  {
    sourcePath: "engine/vendors/transport/tls-trust.ts",
    code: "return createSecureContext(authorities.length === 0 ? {} : { ca: [...rootCertificates, ...authorities] });",
    original: "authorities.length === 0",
    replacement: "false",
    reason: "the public authorities are named instead of meant",
  },
  {
    sourcePath: "engine/vendors/transport/web-socket-frame.ts",
    code: "for (let i = 0; i < length; i++) {",
    original: "<",
    replacement: "<=",
    reason: "the byte behind the last one lies outside of the frame, which takes nothing there",
  },
  {
    sourcePath: "engine/vendors/transport/web-socket.ts",
    code: "else if (data instanceof ArrayBuffer)",
    original: "data instanceof ArrayBuffer",
    replacement: "true",
    reason: "what is no text comes as that, which the compiler cannot know",
  },
];

/** Why a mutant is equivalent; undefined when nobody has judged that it is. */
export function equivalenceOf(mutant: Mutant): string | undefined {
  return EQUIVALENT.find(
    ({ sourcePath, code, original, replacement }) =>
      sourcePath === mutant.sourcePath &&
      code === mutant.code &&
      original === mutant.original &&
      replacement === mutant.change.replacement,
  )?.reason;
}
