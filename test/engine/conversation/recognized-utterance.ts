import { Recognizer, type RecognizerMessage } from "../../../engine/sandbox/deepgram/recognizer.js";
import { type DecodedWord, encodeSpeech } from "../../../engine/sandbox/telephone/tone-code.js";
import { TurnModel } from "../../../engine/sandbox/turn-model.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";
import type { Utterance } from "./paused-utterances.js";

const SAMPLE_RATE_HZ = 8_000;
const FRAME_MS = 20;
const FRAME_SAMPLES = (SAMPLE_RATE_HZ * FRAME_MS) / 1_000;
/** Longer than anything waits for more words. */
const SILENCE_AFTER_MS = 6_000;
const ENDPOINTING_MS = 200;
const UTTERANCE_END_MS = 1_500;
/** The vendor's own, and what is asked of it for early replies. */
const EOT_CONFIDENCE = 0.7;
const EAGER_CONFIDENCE = 0.5;

export interface Outcome {
  /** The LLM request became final while the caller was still to say something. */
  readonly cutOffs: number;
  /** From the end of the last word to the last question for the model, as far as it was certain. */
  readonly delayMs: number;
  /** How much earlier the request had started. */
  readonly preemptiveMs: number;
  readonly dropped: number;
}

export type Listening = "nova" | "flux";

/** Settings of an agent that differ from the defaults. */
export interface Hearing {
  readonly endpointingMs?: number;
  readonly preemptiveGeneration?: boolean;
}

/** Has an STT simulator transcribe the utterance, in the audio's own time, and reports the conversation's result. */
export function recognize(
  utterance: Utterance,
  listening: Listening,
  { endpointingMs = ENDPOINTING_MS, ...given }: Hearing = {},
): Outcome {
  const history = [{ role: "assistant", content: utterance.asked }] as const;
  const settings = { ...PLAIN_SETTINGS, preemptiveGeneration: listening === "flux", ...given };
  const call = new RecordedCall(settings, utterance.asked === "" ? [] : history);
  call.send({ type: "opened", resumed: true });
  const hear = listening === "nova" ? novaEar(call, endpointingMs) : fluxEar(call);
  const audio = soundOf(utterance);
  const endMs = (audio.length / SAMPLE_RATE_HZ) * 1_000;
  const seen: { readonly atMs: number; readonly type: string }[] = [];
  const silence = new Int16Array((SILENCE_AFTER_MS / 1_000) * SAMPLE_RATE_HZ);
  for (const samples of [audio, silence]) {
    for (let at = 0; at < samples.length; at += FRAME_SAMPLES) {
      const frame = samples.subarray(at, at + FRAME_SAMPLES);
      const before = call.effects.length;
      call.clock.advance(FRAME_MS);
      call.hearVoice(frame.some((sample) => sample !== 0));
      hear(frame);
      const atMs = call.clock.monotonicMs();
      for (const { type } of call.effects.slice(before)) seen.push({ atMs, type });
    }
  }
  const finals = finalsOf(call, seen);
  const last = finals.at(-1) ?? Number.POSITIVE_INFINITY;
  const asked = seen.findLast(
    ({ type }) => type === "startPreemptiveReply" || type === "requestReply",
  );
  return {
    cutOffs: finals.filter((atMs) => atMs < endMs).length,
    delayMs: last - endMs,
    preemptiveMs: last - (asked?.atMs ?? last),
    dropped: seen.filter(({ type }) => type === "dropPreemptiveReply").length,
  };
}

/** When a turn of the caller was taken to be over. */
function finalsOf(call: RecordedCall, seen: readonly { readonly atMs: number }[]): number[] {
  const first = call.effects.length - seen.length;
  return seen.flatMap(({ atMs }, index) => {
    const effect = call.effects[first + index];
    if (effect?.type !== "send" || effect.message.type !== "transcript") return [];
    return effect.message.role === "user" && effect.message.isFinal ? [atMs] : [];
  });
}

function soundOf({ said, speed = 1 }: Utterance): Int16Array {
  const pieces = said.map((part) =>
    typeof part === "number"
      ? new Int16Array((part / 1_000) * SAMPLE_RATE_HZ)
      : encodeSpeech(part, SAMPLE_RATE_HZ, speed),
  );
  const samples = new Int16Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    samples.set(piece, at);
    at += piece.length;
  }
  return samples;
}

function novaEar(call: RecordedCall, endpointingMs: number): (frame: Int16Array) => void {
  const emit = (message: RecognizerMessage) => {
    if (message.type === "SpeechStarted") return call.send({ type: "speechStarted" });
    if (message.type === "UtteranceEnd") {
      const lastWordEndMs = message.last_word_end * 1_000;
      const endedAgoMs = recognizer.positionMs - lastWordEndMs;
      return call.send({ type: "utteranceEnd", lastWordEndMs, endedAgoMs });
    }
    const [alternative] = message.channel.alternatives;
    const endSec = alternative?.words.at(-1)?.end;
    const lastWordEndMs = endSec === undefined ? undefined : endSec * 1_000;
    call.send({
      type: "transcript",
      text: alternative?.transcript ?? "",
      isFinal: message.is_final === true,
      speechFinal: message.speech_final === true,
      lastWordEndMs,
      endedAgoMs: recognizer.positionMs - (lastWordEndMs ?? recognizer.positionMs),
    });
  };
  const recognizer = new Recognizer(
    {
      sampleRateHz: SAMPLE_RATE_HZ,
      endpointingMs,
      utteranceEndMs: UTTERANCE_END_MS,
      hasInterimResults: true,
      hasVoiceEvents: true,
      hasMarks: true,
      isMultilingual: false,
      keyterms: [],
    },
    { emit, takeFault: () => undefined, interimIntervalMs: 1_000, segmentMs: 5_000 },
  );
  return (frame) => void recognizer.write(frame);
}

function fluxEar(call: RecordedCall): (frame: Int16Array) => void {
  let isEager = false;
  const tell = (words: readonly DecodedWord[], isFinal: boolean) => {
    const lastWordEndMs = words.at(-1)?.endMs;
    const endedAgoMs = model.positionMs - (lastWordEndMs ?? model.positionMs);
    const text = words.map((word) => word.text).join(" ");
    const heard = { text, isFinal, speechFinal: false, lastWordEndMs, endedAgoMs } as const;
    call.send({ type: "transcript", ...heard, hasTurnDetection: true });
  };
  const model = new TurnModel(SAMPLE_RATE_HZ, {
    onStart: () => {
      call.send({ type: "speechStarted" });
      tell(model.words, false);
    },
    onUpdate: () => tell(model.words, false),
    onResumed: () => {
      if (isEager) call.send({ type: "callerTurnResumed" });
      isEager = false;
    },
    onQuiet: (confidence) => {
      if (confidence >= EOT_CONFIDENCE) {
        tell(model.words, true);
        call.send({ type: "callerTurnEnded" });
        model.close();
        isEager = false;
      } else if (confidence >= EAGER_CONFIDENCE && !isEager) {
        isEager = true;
        tell(model.words, false);
        call.send({ type: "callerTurnEnding" });
      }
    },
  });
  return (frame) => void model.write(frame);
}
