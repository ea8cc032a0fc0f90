import { stockPhrases } from "../../../engine/conversation/lexicon.js";
import type { TimedWord } from "../../../engine/conversation/playback-ledger.js";
import type { LanguageSettings } from "../../../engine/conversation/state.js";
import type { SpokenLanguage } from "../../../engine/vendors/contracts.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

/** The recognizer counts audio, which began before the call's own clock. */
const AUDIO_AHEAD_MS = 1_000;

const CATEGORIES = ["llm", "tts", "stt"] as const;
const ANSWERERS = ["human", "machine", "fax", "unknown"] as const;

/**
 * Plays a call from a script of blocks: one command, a line of dashes, then what the session did. Gives the script
 * back with the answers as they are now.
 *
 *     set sensitivity low                  before `open`: a setting of the agent
 *     set phrases en                       the agent speaks for itself, in that language
 *     set languages en-US de-DE            it changes between these, with the phrases of each
 *     open | open resumed                  the caller is connected
 *     open without llm | tts | stt         nobody of that kind can be had for the call
 *     voice                                the recognizer notices a voice
 *     speaks | is-quiet                    the server hears a voice in the audio, whatever the recognizer says; or no longer
 *     word | word MS                       the VAD has heard a word of a voice, which began so long ago without a pause since
 *     interim WORDS                        words that may still change
 *     final WORDS | speech-final WORDS     words that stay; the second also ends the turn
 *     final [de] WORDS                     STT tells the language, or with `[de 0.4]` how sure it is; so with all words
 *     turn-words WORDS                     as `interim`, of a recognizer that decides turns itself
 *     turn-guess WORDS                     as `turn-words`, without a time, as Deepgram Flux does
 *     turn-ending | turn-resumed           it thinks that the turn is ending, or takes that back
 *     turn-over WORDS                      the turn ends in these words
 *     turn-decided WORDS                   the same, without a time
 *     early-refused                        a reply that was begun early may not be
 *     utterance-end                        the recognizer heard no word for a while
 *     token TEXT                           the model goes on; a vertical bar stands for a space at the end
 *     reply TEXT                           the whole reply, and its end
 *     done TOKENS | fail | fail-for-good   the model ends, or fails
 *     grew INDEX MS [WORD=MS ...]          so much of a sentence has come, with the words that end there
 *     spoken INDEX MS [WORD=MS ...]        a sentence is whole
 *     mute INDEX | mute-for-good INDEX     it could not be
 *     heard INDEX                          the telephone says that this sentence was heard
 *     late MS                              the server sent so late what it had that the telephone was silent
 *     played MS                            the client says how much of the turn it has played
 *     ready MS TEXT [WORD=MS ...]          a phrase of the agent's stock can be played at once
 *     key KEY                              the caller presses a key
 *     tool NAME JSON                       the model ends by asking for a tool, whose call is named as the tool
 *     tools NAME NAME                      the model ends by asking for several, without arguments
 *     tool-says NAME TEXT                  what came of it
 *     tool-fails NAME TEXT                 it has failed, which the model reads in these words
 *     tool-speaks NAME TEXT                it is to be said as it is
 *     transfer-taken | transfer-refused    what the vendor says to the newest transfer
 *     say TEXT | say-now TEXT              a person has the agent say that; now: it stops for it
 *     context TEXT                         a person gives the model a note
 *     mute-agent | unmute-agent            a person mutes the agent, or lets it speak again
 *     answered-by human                    the vendor says who has answered a placed call: human, machine, fax, unknown
 *     answered-by machine over             and that the machine's greeting is over
 *     beep                                 a tone as machines play it before they record
 *     stale                                answers to a turn that is over
 *     deaf | leave | suspend | wait MS
 */
export function playScript(script: string): string {
  const blocks = script.split(/\n\n+/).filter((block) => block.trim() !== "");
  const settings = { ...PLAIN_SETTINGS };
  let call: RecordedCall | undefined;
  const played: string[] = [];
  for (const block of blocks) {
    const command = block.split("\n----")[0]?.trim() ?? "";
    if (command.startsWith("#")) {
      played.push(command);
      continue;
    }
    if (command.startsWith("set ")) {
      const [, name = "", ...value] = command.split(" ");
      const given = valueOf(name, value.join(" "));
      // A telephone always plays what comes.
      Object.assign(settings, { [name]: given, ...(name === "isPaced" && { isStreamed: given }) });
      played.push(command);
      continue;
    }
    call ??= new RecordedCall(settings);
    perform(call, command);
    const lines = call.takeLines();
    played.push([command, "----", ...(lines.length === 0 ? ["(nothing)"] : lines)].join("\n"));
  }
  if (call !== undefined && call.crashes.length > 0) throw call.crashes[0];
  return `${played.join("\n\n")}\n`;
}

function perform(call: RecordedCall, command: string): void {
  const [verb = "", ...rest] = command.split(" ");
  const { text, told } = languageIn(rest.join(" "));
  const turnId = call.turn?.id ?? call.preemptiveReply?.turnId ?? 0;
  const index = Number(rest[0]);
  const hear = (isFinal: boolean, speechFinal: boolean, decided?: { hasTurnDetection: true }) => {
    const lastWordEndMs = call.clock.monotonicMs() + AUDIO_AHEAD_MS - 100;
    const heard = {
      text,
      isFinal,
      speechFinal,
      lastWordEndMs,
      endedAgoMs: 100,
      ...decided,
      ...told,
    };
    call.send({ type: "transcript", ...heard });
  };
  switch (verb) {
    case "open":
      if (rest[0] === "without") {
        const lost = CATEGORIES.find((category) => category === rest[1]);
        if (lost === undefined) throw new Error(`open without what? ${text}`);
        return call.send({ type: "opened", resumed: true, lost });
      }
      return call.send({ type: "opened", resumed: text === "resumed" });
    case "voice":
      return call.send({ type: "speechStarted" });
    case "speaks":
      return call.hearVoice(true);
    case "is-quiet":
      return call.hearVoice(false);
    case "word": {
      call.hearVoice(true);
      call.hearVoice(false);
      const beganAgoMs = 400;
      const voiceBeganAgoMs = rest.length === 0 ? beganAgoMs : index;
      return call.send({ type: "voiceHeard", beganAgoMs, voiceBeganAgoMs });
    }
    case "interim":
      return hear(false, false);
    case "final":
      return hear(true, false);
    case "speech-final":
      return hear(true, true);
    case "turn-words":
      return hear(false, false, { hasTurnDetection: true });
    case "turn-guess": {
      const guess = { text, isFinal: false, speechFinal: false, lastWordEndMs: undefined } as const;
      const { voiceAgoMs } = call;
      return call.send({
        type: "transcript",
        ...guess,
        endedAgoMs: 0,
        hasTurnDetection: true,
        voiceAgoMs,
        ...told,
      });
    }
    case "turn-ending":
      return call.send({ type: "callerTurnEnding" });
    case "turn-resumed":
      return call.send({ type: "callerTurnResumed" });
    case "early-refused":
      return call.send({ type: "preemptiveRefused", turnId });
    case "turn-over":
      hear(true, false, { hasTurnDetection: true });
      return call.send({ type: "callerTurnEnded" });
    case "turn-decided": {
      const said = { text, isFinal: true, speechFinal: false, lastWordEndMs: undefined } as const;
      call.send({ type: "transcript", ...said, endedAgoMs: 0, hasTurnDetection: true, ...told });
      return call.send({ type: "callerTurnEnded" });
    }
    case "turn-over-without-words":
      return call.send({ type: "callerTurnEnded" });
    case "utterance-end": {
      const lastWordEndMs = call.clock.monotonicMs() + AUDIO_AHEAD_MS;
      return call.send({ type: "utteranceEnd", lastWordEndMs, endedAgoMs: 1_000 });
    }
    case "token":
      return call.send({ type: "replyToken", turnId, text: text.replace("|", " ") });
    case "reply":
      call.send({ type: "replyToken", turnId, text });
      return call.send({ type: "replyDone", turnId, tokens: 20 });
    case "done":
      return call.send({ type: "replyDone", turnId, tokens: index });
    case "fail":
      return call.send({ type: "replyFailed", turnId, retryable: true });
    case "fail-for-good":
      return call.send({ type: "replyFailed", turnId, retryable: false });
    case "grew":
    case "spoken": {
      const firstByteAtMs = call.clock.monotonicMs();
      const durationMs = Number(rest[1]);
      const type = verb === "grew" ? "sentenceGrew" : "sentenceWhole";
      const timed = timesIn(rest.slice(2));
      return call.send({ type, turnId, index, durationMs, firstByteAtMs, ...timed });
    }
    case "mute":
      return call.send({ type: "sentenceFailed", turnId, index, retryable: true });
    case "mute-for-good":
      return call.send({ type: "sentenceFailed", turnId, index, retryable: false });
    case "heard":
      return call.send({ type: "sentencePlayed", turnId, index });
    case "late":
      return call.send({ type: "soundLate", lateMs: index });
    case "played":
      return call.send({ type: "played", turnId, playedMs: index });
    case "ready": {
      const words = rest.slice(1).filter((word) => !word.includes("="));
      const phrase = { text: words.join(" "), durationMs: index };
      return call.send({ type: "phraseReady", ...phrase, ...timesIn(rest) });
    }
    case "key":
      return call.send({ type: "digit", digit: text });
    case "write":
      return call.send({ type: "written", text });
    case "tool": {
      const [name = "", ...json] = rest;
      const toolCalls = [{ id: name, name, argumentsJson: json.join(" ") }];
      return call.send({ type: "replyDone", turnId, tokens: 20, toolCalls });
    }
    case "tools": {
      const toolCalls = rest.map((name) => ({ id: name, name, argumentsJson: "{}" }));
      return call.send({ type: "replyDone", turnId, tokens: 20, toolCalls });
    }
    case "tool-speaks": {
      const [callId = "", ...words] = rest;
      return call.send({ type: "toolDone", turnId, callId, content: "", spoken: words.join(" ") });
    }
    case "tool-says":
    case "tool-fails": {
      const [callId = "", ...words] = rest;
      const content = words.join(" ");
      const turn = turnOfTool(call, callId);
      const { voiceAgoMs } = call;
      const failure = verb === "tool-fails" && { isFailed: true, voiceAgoMs };
      return call.send({ type: "toolDone", turnId: turn, callId, content, ...failure });
    }
    case "transfer-taken":
    case "transfer-refused": {
      const type = verb === "transfer-taken" ? "transferTaken" : "transferRefused";
      return call.send({ type, turnId: call.actor.state.transfer?.turnId ?? 0 });
    }
    case "say":
    case "say-now": {
      const command = { type: "say", text, interrupt: verb === "say-now" } as const;
      return call.send({ type: "controlRequested", command });
    }
    case "context":
      return call.send({ type: "controlRequested", command: { type: "addContext", text } });
    case "mute-agent":
      return call.send({ type: "controlRequested", command: { type: "mute" } });
    case "unmute-agent":
      return call.send({ type: "controlRequested", command: { type: "unmute" } });
    case "stale":
      call.send({ type: "replyToken", turnId: turnId - 1, text: "Too late." });
      call.send({ type: "replyDone", turnId: turnId - 1, tokens: 5 });
      return call.send({ type: "sentenceFailed", turnId: turnId - 1, index: 0, retryable: false });
    case "answered-by": {
      const answerer = ANSWERERS.find((each) => each === rest[0]);
      if (answerer === undefined) throw new Error(`answered by whom? ${text}`);
      const verdict = { answerer, isGreetingOver: rest[1] === "over" };
      return call.send({ type: "answererDetected", verdict, voiceAgoMs: call.voiceAgoMs });
    }
    case "beep":
      return call.send({ type: "beepHeard" });
    case "deaf":
      return call.send({ type: "sttFailed" });
    case "leave":
      return call.send({
        type: "endRequested",
        ending: { reason: "callerLeft", status: "completed", message: "the caller hung up" },
      });
    case "suspend":
      return call.send({
        type: "endRequested",
        ending: { reason: "suspended", status: "completed", message: "suspended" },
      });
    case "end":
      return call.send({
        type: "endRequested",
        ending: { reason: "organizationEnded", status: "completed", message: "ended" },
      });
    case "wait":
      return call.clock.advance(index);
    default:
      throw new Error(`unknown command in a call script: ${command}`);
  }
}

function valueOf(name: string, value: string): unknown {
  if (name === "phrases") return stockPhrases(value);
  if (name === "languages") return value.split(" ").map(languageSettings);
  return /^(?:[\d[{]|true$|false$)/.test(value) ? JSON.parse(value) : value;
}

export function languageSettings(languageTag: string): LanguageSettings {
  const phrases = stockPhrases(languageTag);
  const { apology, transferring, cannotTransfer, suspended, callEndedByOrganization } = phrases;
  const said = { apology, transferring, cannotTransfer, suspended, callEndedByOrganization };
  const language = languageTag.split("-")[0] ?? "";
  return { languageTag, language, ...said, phrases: undefined, repeatRequest: "", tools: [] };
}

/** The language before the words, in brackets; nothing where none is told. */
function languageIn(words: string): {
  readonly text: string;
  readonly told?: { readonly language: SpokenLanguage };
} {
  const found = /^\[(\w+)(?: ([\d.]+))?\] (.*)$/u.exec(words);
  if (found === null) return { text: words };
  const [, code = "", confidence, text = ""] = found;
  const language = { code, ...(confidence !== undefined && { confidence: Number(confidence) }) };
  return { text, told: { language } };
}

/** Where words end, as `WORD=MS`; nothing where none is told. */
function timesIn(parts: readonly string[]): { words?: readonly TimedWord[] } {
  const words = parts
    .filter((part) => part.includes("="))
    .map((told) => {
      const [text = "", endMs] = told.split("=");
      return { text, endMs: Number(endMs) };
    });
  return words.length === 0 ? {} : { words };
}

/** The present turn, or an earlier one that has left the tool at work. */
function turnOfTool(call: RecordedCall, callId: string): number {
  const { turn } = call;
  const { toolsDone, background } = call.actor.state;
  const running = background.calls.find((each) => each.call.id === callId);
  if (running !== undefined) return running.turnId;
  const pending = toolsDone?.pending.find((each) => each.callId === callId);
  if (pending === undefined || turn?.toolsWaiting.includes(callId) === true) return turn?.id ?? 0;
  return pending.turnId;
}
