import type { Mutant } from "../sampled-mutants.js";
import { BETWEEN_SERVERS } from "./between-servers.js";
import type { EquivalentMutant } from "./equivalent-mutant.js";
import { IN_AUDIO } from "./in-audio.js";
import { IN_CALLS } from "./in-calls.js";
import { IN_CHAINS } from "./in-chains.js";
import { IN_RECOGNIZERS } from "./in-recognizers.js";
import { IN_SOUND_AND_VENDORS } from "./in-sound-and-vendors.js";
import { IN_SPEECH } from "./in-speech.js";
import { IN_STORAGE } from "./in-storage.js";
import { IN_TELEPHONY } from "./in-telephony.js";
import { IN_TURN_TAKING } from "./in-turn-taking.js";
import { IN_TURNS } from "./in-turns.js";
import { IN_VENDOR_STREAMS } from "./in-vendor-streams.js";
import { IN_VENDORS } from "./in-vendors.js";

export const EQUIVALENT: readonly EquivalentMutant[] = [
  {
    sourcePath: "engine/tenancy/agents/dial-targets.ts",
    code: "? Array.from({ length: target.length - 1 }, (_, index) => target.slice(0, index + 2))",
    original: "-",
    replacement: "+",
    reason: "what is longer than the number is the number once more",
  },
  {
    sourcePath: "engine/calls/opening/caller-placement.ts",
    code: "this.#waitingSamples -= this.#waiting.shift()?.pcm.length ?? 0;",
    original: "0",
    replacement: "1",
    reason: "the loop only runs while something waits, so there is always a chunk to take",
  },
  {
    sourcePath: "storage/calls/abandoned-calls.ts",
    code: "const CALLS_PER_STEP = 100;",
    original: "100",
    replacement: "200",
    reason: "steps are taken until no call is left, however many there are in one",
  },
  {
    sourcePath: "engine/calls/call-center.ts",
    code: "this.#eventLoopDelay.close();",
    original: "this.#eventLoopDelay.close();",
    replacement: ";",
    reason: "the monitor keeps no process alive, and nobody asks it after the end",
  },
  {
    sourcePath: "storage/tenancy/audit-store.ts",
    code: "const PURGED_PER_STEP = 500;",
    original: "500",
    replacement: "1000",
    reason: "steps are taken until nothing old is left, however much is removed in one",
  },
  {
    sourcePath: "storage/calls/call-rows.ts",
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
    sourcePath: "engine/telephony/media-stream.ts",
    code: 'if (this.#dialect.audioIn === "json" && this.#scanner.scan(frame)) {',
    original: 'this.#dialect.audioIn === "json" && this.#scanner.scan(frame)',
    replacement: "false",
    reason: "without the scanner the message is parsed as a whole, to the same event",
  },
  ...BETWEEN_SERVERS,
  ...IN_AUDIO,
  ...IN_RECOGNIZERS,
  ...IN_SOUND_AND_VENDORS,
  ...IN_VENDORS,
  ...IN_VENDOR_STREAMS,
  ...IN_CHAINS,
  ...IN_STORAGE,
  ...IN_SPEECH,
  ...IN_TELEPHONY,
  ...IN_TURNS,
  ...IN_TURN_TAKING,
  ...IN_CALLS,
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
