import type { Category } from "../../storage/records.js";
import { bytesPerMs, type HeardFormat } from "../audio/audio-format.js";
import { VoiceMeter } from "../audio/voice-meter.js";
import type {
  SpeechListener,
  SpeechStream,
  Transcript,
  TurnEvent,
  VendorError,
} from "../vendors/contracts.js";
import type { CallAudioTap } from "./call-audio-tap.js";
import type { EffectRunner } from "./effect-runner.js";
import { CALLER_LEFT, CALLER_TOO_FAST, type Ending } from "./ending.js";
import type { SentenceId } from "./playback/caller-channel.js";
import { HeardClock } from "./turn-taking/heard-clock.js";
import { VoicePieces } from "./turn-taking/unrecognized-speech.js";

/**
 * A network that stood still brings at once what was said meanwhile, and a file may be sent whole. More than that nobody has
 * said, and a recognizer's vendor bills the audio that it was sent.
 */
const HEARD_AHEAD_MAX_MS = 60_000;

/** Why nobody of a kind can be had for a call. */
export interface LostCategory {
  readonly category: Category;
  readonly error: VendorError;
}

export interface VendorLog {
  vendorFailed(category: Category, error: VendorError): void;
  wasDeaf(durationMs: number): void;
}

/** What a session needs of the runner of its call's effects. */
type SessionRunner = Pick<
  EffectRunner,
  "report" | "dispose" | "noteVoice" | "nowMs" | "voiceAgoMs"
>;

/**
 * A call in progress, as the caller's socket sees it: audio goes in here and straight on to the recognizer; what the
 * recognizer hears becomes events of the actor.
 */
export class Session implements SpeechListener {
  readonly callId: string;
  readonly #runner: SessionRunner;
  readonly #vendorLog: VendorLog;
  readonly #bytesPerMs: number;
  readonly #tap: CallAudioTap | undefined;
  readonly #voice: VoiceMeter;
  readonly #voicePieces = new VoicePieces();
  readonly #heardClock = new HeardClock();
  #stream: SpeechStream | undefined;
  #heardBytes = 0;
  #heardSinceMs: number | undefined;
  #isTooFast = false;
  #ended = false;

  constructor(
    callId: string,
    runner: SessionRunner,
    vendorLog: VendorLog,
    heard: HeardFormat,
    tap?: CallAudioTap,
  ) {
    this.callId = callId;
    this.#runner = runner;
    this.#vendorLog = vendorLog;
    this.#bytesPerMs = bytesPerMs(heard);
    this.#tap = tap;
    this.#voice = new VoiceMeter(heard);
  }

  /** Audio that the recognizer was given, in ms. */
  get heardMs(): number {
    return this.#heardBytes / this.#bytesPerMs;
  }

  begin(stream: SpeechStream, resumed: boolean): void {
    if (this.#ended) {
      stream.close();
      return;
    }
    this.#stream = stream;
    this.#runner.report({ type: "opened", resumed });
  }

  /** Nobody can be had who hears the caller, answers or speaks: the call is there to say so. */
  beginWithout({ category, error }: LostCategory): void {
    this.#vendorLog.vendorFailed(category, error);
    this.#runner.report({ type: "opened", resumed: true, lost: category });
  }

  /** Whole samples of the caller's audio, in the format that the session was opened for. Audio that comes too fast ends the call. */
  hear(audio: Uint8Array): void {
    const { nowMs } = this.#runner;
    this.#heardSinceMs ??= nowMs;
    const toldMs = (this.#heardBytes + audio.byteLength) / this.#bytesPerMs;
    if (toldMs - (nowMs - this.#heardSinceMs) > HEARD_AHEAD_MAX_MS) return this.#refuseHaste();
    this.#heardBytes += audio.byteLength;
    this.#heardClock.heard(this.heardMs, nowMs);
    if (this.#voice.hear(audio) > 0) this.#runner.noteVoice();
    const piece = this.#voicePieces.hear(
      this.#voice.syllablesMs,
      audio.byteLength / this.#bytesPerMs,
    );
    if (piece !== undefined) this.#runner.report({ type: "voiceHeard", ...piece });
    this.#tap?.caller(audio);
    this.#stream?.write(audio);
  }

  #refuseHaste(): void {
    if (!this.#isTooFast) this.end(CALLER_TOO_FAST);
    this.#isTooFast = true;
  }

  /** A key of the caller's telephone. */
  pressKey(digit: string): void {
    this.#runner.report({ type: "digit", digit });
  }

  /** Words that the caller has written in place of saying them. */
  write(text: string): void {
    this.#runner.report({ type: "written", text });
  }

  /** The telephone has played this sentence to its end. */
  sentenceHeard({ turnId, index }: SentenceId): void {
    this.#runner.report({ type: "sentenceHeard", turnId, index });
  }

  /** The caller had heard all that was sent, for so long, before the server sent more of what it had. */
  soundLate(lateMs: number): void {
    this.#runner.report({ type: "soundLate", lateMs });
  }

  /** The client has played so much of the turn's audio, and was sent no less. */
  played(turnId: number, playedMs: number): void {
    this.#runner.report({ type: "played", turnId, playedMs });
  }

  hangUp(): void {
    this.end(CALLER_LEFT);
  }

  end(ending: Ending): void {
    if (!this.#ended) this.#runner.report({ type: "endRequested", ending });
  }

  /** Called once, when the last effect has been performed: lets the recognizer finish, or cuts it off. */
  release(): void {
    this.#ended = true;
    this.#runner.dispose();
    this.#tap?.end();
    const stream = this.#stream;
    this.#stream = undefined;
    void stream?.finish();
  }

  onSpeechStarted(): void {
    this.#runner.report({ type: "speechStarted", voiceAgoMs: this.#runner.voiceAgoMs });
  }

  onTranscript(transcript: Transcript): void {
    const endedAgoMs = this.#agoMs(transcript.lastWordEndMs);
    const { voiceAgoMs, nowMs } = this.#runner;
    const arrivedAgoMs = this.#heardClock.arrivedAgoMs(transcript.lastWordEndMs, nowMs);
    const agos = { endedAgoMs, arrivedAgoMs, voiceAgoMs };
    this.#runner.report({ type: "transcript", ...transcript, ...agos });
  }

  onUtteranceEnd(lastWordEndMs: number): void {
    const endedAgoMs = this.#agoMs(lastWordEndMs);
    const { voiceAgoMs } = this.#runner;
    this.#runner.report({ type: "utteranceEnd", lastWordEndMs, endedAgoMs, voiceAgoMs });
  }

  onTurn({ mark }: TurnEvent): void {
    switch (mark) {
      case "startOfTurn":
        return;
      case "eagerEndOfTurn":
        return this.#runner.report({ type: "callerTurnEnding" });
      case "turnResumed":
        return this.#runner.report({ type: "callerTurnResumed" });
      case "endOfTurn":
        return this.#runner.report({
          type: "callerTurnEnded",
          voiceAgoMs: this.#runner.voiceAgoMs,
        });
    }
  }

  onLost(error: VendorError): void {
    this.#vendorLog.vendorFailed("stt", error);
  }

  onRecovered(deafMs: number): void {
    this.#vendorLog.wasDeaf(deafMs);
  }

  onFailed(error: VendorError): void {
    this.#vendorLog.vendorFailed("stt", error);
    this.#runner.report({ type: "listeningFailed" });
  }

  #agoMs(lastWordEndMs: number | undefined): number {
    return this.#heardClock.agoMs(lastWordEndMs, this.#runner.nowMs);
  }
}
