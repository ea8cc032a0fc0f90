import type { Category } from "../../storage/records.js";
import { bytesPerMs, type InputFormat } from "../audio/audio-format.js";
import type { BeepDetector } from "../audio/beep-detector.js";
import { VoiceActivityDetector } from "../audio/vad.js";
import type {
  SpeechListener,
  SpeechStream,
  Transcript,
  TurnEvent,
  VendorError,
} from "../vendors/contracts.js";
import { CALLER_LEFT, CALLER_TOO_FAST, type Ending } from "./call-end.js";
import type { SentenceId } from "./caller-channel.js";
import type { ControlCommand, ControlOutcome } from "./control-command.js";
import { step } from "./conversation.js";
import { nextDeadline } from "./deadlines.js";
import type { EffectRunner } from "./effect-runner.js";
import type { EffectPerformer } from "./effects.js";
import type { AnswererVerdict, ConversationEvent } from "./events.js";
import { VoicePieces } from "./idle.js";
import type { ConversationState } from "./state.js";

/** Events waiting while effects of an earlier one are performed; a healthy call has a handful. */
const MAILBOX_EVENTS_MAX = 1_024;

/**
 * Owns one call. It takes one event at a time, changes the state, performs the effects in order, and wakes at the
 * next deadline. An error in here ends this call, not the process: `onCrash` is called once, and later events are
 * dropped.
 */
export class ConversationActor {
  readonly #state: ConversationState;
  #busy = false;
  #crashed = false;
  readonly #mailbox: ConversationEvent[] = [];
  readonly #performer: EffectPerformer;
  readonly #onCrash: (error: unknown) => void;

  constructor(
    state: ConversationState,
    performer: EffectPerformer,
    onCrash: (error: unknown) => void,
  ) {
    this.#state = state;
    this.#performer = performer;
    this.#onCrash = onCrash;
  }

  get state(): ConversationState {
    return this.#state;
  }

  send(event: ConversationEvent): void {
    if (this.#crashed) return;
    if (this.#mailbox.length >= MAILBOX_EVENTS_MAX) {
      this.#crash(new Error(`more than ${MAILBOX_EVENTS_MAX} events wait for one call`));
      return;
    }
    this.#mailbox.push(event);
    if (!this.#busy) this.#work();
  }

  #work(): void {
    this.#busy = true;
    try {
      for (let event = this.#mailbox.shift(); event !== undefined; event = this.#mailbox.shift()) {
        for (const effect of step(this.#state, event)) this.#performer.perform(effect);
        this.#performer.wakeAt(nextDeadline(this.#state));
      }
    } catch (error) {
      this.#crash(error);
    } finally {
      this.#busy = false;
    }
  }

  #crash(error: unknown): void {
    this.#crashed = true;
    this.#mailbox.length = 0;
    this.#onCrash(error);
  }
}

/** Clock drift between telephone and server stays below this; audio that is later is new time, not jitter. */
const LATE_PER_MS = 0.001;
/** A gap in the audio of at least this length shifts all later stream time by its length. */
const GAP_MIN_MS = 200;
/** The resolution and the length of the recorded arrival times: longer than any STT takes to return words. */
const ARRIVAL_STEP_MS = 200;
const ARRIVALS_MAX = 50;

interface Arrival {
  readonly streamMs: number;
  readonly atMs: number;
}

/**
 * The position of the caller's audio stream on the server's clock. Audio arrives in whole frames, some of them
 * late: the earliest arrival shows when a moment was spoken, and the time since the newest arrival counts as well.
 */
export class CallerAudioClock {
  /** The server's time at the stream's own zero. */
  #originMs = Number.POSITIVE_INFINITY;
  #atMs = 0;
  #receivedMs = 0;
  /** Oldest first. */
  readonly #arrivals: Arrival[] = [];

  /** Audio up to `heardMs` of the stream has arrived by `atMs`. */
  received(heardMs: number, atMs: number): void {
    const originMs = atMs - heardMs;
    const isGap = originMs - this.#originMs > GAP_MIN_MS;
    const oldest = isGap ? originMs : this.#originMs + (atMs - this.#atMs) * LATE_PER_MS;
    this.#originMs = Math.min(originMs, oldest);
    this.#atMs = atMs;
    this.#receivedMs = heardMs;
    this.#noteArrival(heardMs, atMs);
  }

  /**
   * How long before `atMs` the audio at this stream position arrived. Less than `agoMs` where audio arrived ahead
   * of real time, as from a vendor that sends in bursts. 0 for an unknown or future position.
   */
  arrivedAgoMs(streamMs: number | undefined, atMs: number): number {
    if (streamMs === undefined || streamMs > this.#receivedMs) return 0;
    const next = this.#arrivals.findIndex((each) => each.streamMs >= streamMs);
    const known = this.#arrivals[next] ?? { streamMs: this.#receivedMs, atMs: this.#atMs };
    // Between two recorded arrivals the audio came in real time or later.
    const before = this.#arrivals.at(next - 1);
    const earliestMs = next === 0 ? known.atMs : (before?.atMs ?? known.atMs);
    return Math.max(0, atMs - Math.max(earliestMs, known.atMs - (known.streamMs - streamMs)));
  }

  /** How long before `atMs` this stream position was spoken; 0 for an unknown or future position. */
  agoMs(streamMs: number | undefined, atMs: number): number {
    if (streamMs === undefined || this.#originMs === Number.POSITIVE_INFINITY) return 0;
    return Math.max(0, atMs - (this.#originMs + streamMs));
  }

  #noteArrival(streamMs: number, atMs: number): void {
    const newest = this.#arrivals.at(-1);
    if (newest !== undefined && streamMs - newest.streamMs < ARRIVAL_STEP_MS) return;
    this.#arrivals.push({ streamMs, atMs });
    if (this.#arrivals.length > ARRIVALS_MAX) this.#arrivals.shift();
  }
}

/** Receives both sides of a call as they play. No method throws, and the bytes are only valid until it returns. */
export interface CallAudioTap {
  /** The caller's audio, in the format that STT gets. */
  caller(audio: Uint8Array): void;
  /** The agent's audio as it is sent to the leg. It plays immediately, or after the audio that was sent before it. */
  agent(audio: Uint8Array): void;
  /** Audio that was sent and has not been played yet will not be played. */
  agentCut(): void;
  /** The call is over. */
  end(): void;
}

/**
 * A stalled network delivers the missed audio in one burst, and a client may send a whole file. More audio ahead
 * than this is not real-time speech, and the STT vendor bills it.
 */
const AUDIO_AHEAD_MAX_MS = 60_000;

/** Why no vendor of a category is available for a call. */
export interface UnavailableCategory {
  readonly category: Category;
  readonly error: VendorError;
}

export interface VendorLog {
  vendorFailed(category: Category, error: VendorError): void;
  wasDeaf(durationMs: number): void;
}

/** What a conversation uses of its effect runner. */
type ConversationRunner = Pick<
  EffectRunner,
  "report" | "dispose" | "noteVoice" | "nowMs" | "voiceAgoMs"
>;

/**
 * A call in progress, as the caller's socket sees it: audio goes straight on to STT; what STT returns becomes
 * events of the actor.
 */
export class LiveConversation implements SpeechListener {
  readonly callId: string;
  readonly #runner: ConversationRunner;
  readonly #vendorLog: VendorLog;
  readonly #bytesPerMs: number;
  readonly #controlOutcome: (command: ControlCommand) => ControlOutcome;
  readonly #tap: CallAudioTap | undefined;
  readonly #voice: VoiceActivityDetector;
  readonly #voicePieces = new VoicePieces();
  readonly #audioClock = new CallerAudioClock();
  /** Only until a person is known to have answered. */
  #beeps: BeepDetector | undefined;
  #stream: SpeechStream | undefined;
  #receivedBytes = 0;
  #receivingSinceMs: number | undefined;
  #isTooFast = false;
  #ended = false;

  constructor(
    callId: string,
    runner: ConversationRunner,
    vendorLog: VendorLog,
    input: InputFormat,
    controlOutcome: (command: ControlCommand) => ControlOutcome,
    tap?: CallAudioTap,
    beeps?: BeepDetector,
  ) {
    this.callId = callId;
    this.#beeps = beeps;
    this.#runner = runner;
    this.#vendorLog = vendorLog;
    this.#bytesPerMs = bytesPerMs(input);
    this.#controlOutcome = controlOutcome;
    this.#tap = tap;
    this.#voice = new VoiceActivityDetector(input);
  }

  /** Audio that STT received, in ms. */
  get receivedMs(): number {
    return this.#receivedBytes / this.#bytesPerMs;
  }

  start(stream: SpeechStream, resumed: boolean): void {
    if (this.#ended) {
      stream.close();
      return;
    }
    this.#stream = stream;
    this.#runner.report({ type: "opened", resumed });
  }

  /** No STT, LLM or TTS is available: the call only tells the caller so. */
  startWithout({ category, error }: UnavailableCategory): void {
    this.#vendorLog.vendorFailed(category, error);
    this.#runner.report({ type: "opened", resumed: true, lost: category });
  }

  /** Whole samples of the caller's audio, in the call's input format. Audio that arrives too fast ends the call. */
  hear(audio: Uint8Array): void {
    const { nowMs } = this.#runner;
    this.#receivingSinceMs ??= nowMs;
    const reportedMs = (this.#receivedBytes + audio.byteLength) / this.#bytesPerMs;
    if (reportedMs - (nowMs - this.#receivingSinceMs) > AUDIO_AHEAD_MAX_MS)
      return this.#refuseHaste();
    this.#receivedBytes += audio.byteLength;
    this.#audioClock.received(this.receivedMs, nowMs);
    if (this.#voice.hear(audio) > 0) this.#runner.noteVoice();
    const piece = this.#voicePieces.hear(
      this.#voice.syllablesMs,
      audio.byteLength / this.#bytesPerMs,
    );
    if (piece !== undefined) this.#runner.report({ type: "voiceHeard", ...piece });
    if (this.#beeps?.hear(audio) === true) this.#runner.report({ type: "beepHeard" });
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

  /** Text that the caller typed instead of speaking. */
  write(text: string): void {
    this.#runner.report({ type: "written", text });
  }

  /** The telephone has played this sentence to its end. */
  sentencePlayed({ turnId, index }: SentenceId): void {
    this.#runner.report({ type: "sentencePlayed", turnId, index });
  }

  /** The caller had heard everything that was sent for `lateMs` before the server sent audio that it already had. */
  soundLate(lateMs: number): void {
    this.#runner.report({ type: "soundLate", lateMs });
  }

  /** The client has played this much of the turn's audio; it is never more than was sent. */
  played(turnId: number, playedMs: number): void {
    this.#runner.report({ type: "played", turnId, playedMs });
  }

  /** What a person of the organization, or its program, asks of the agent. */
  control(command: ControlCommand): ControlOutcome {
    if (this.#ended) return "ended";
    const outcome = this.#controlOutcome(command);
    if (outcome === "done") this.#runner.report({ type: "controlRequested", command });
    return outcome;
  }

  hangUp(): void {
    this.end(CALLER_LEFT);
  }

  /** The telephony vendor says who has answered a placed call. */
  answeredBy(verdict: AnswererVerdict): void {
    if (verdict.answerer === "human") this.#beeps = undefined;
    const { voiceAgoMs } = this.#runner;
    if (!this.#ended) this.#runner.report({ type: "answererDetected", verdict, voiceAgoMs });
  }

  end(ending: Ending): void {
    if (!this.#ended) this.#runner.report({ type: "endRequested", ending });
  }

  /** Called once, after the last effect: lets STT finish, or closes it. */
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
    const arrivedAgoMs = this.#audioClock.arrivedAgoMs(transcript.lastWordEndMs, nowMs);
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

  onRecovered(sttOutageMs: number): void {
    this.#vendorLog.wasDeaf(sttOutageMs);
  }

  onFailed(error: VendorError): void {
    this.#vendorLog.vendorFailed("stt", error);
    this.#runner.report({ type: "sttFailed" });
  }

  #agoMs(lastWordEndMs: number | undefined): number {
    return this.#audioClock.agoMs(lastWordEndMs, this.#runner.nowMs);
  }
}
