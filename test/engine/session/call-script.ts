import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

/** The recognizer counts audio, which began before the call's own clock. */
const AUDIO_AHEAD_MS = 1_000;

/**
 * Plays a call from a script of blocks: one command, a line of dashes, then what the session did. Gives the script
 * back with the answers as they are now.
 *
 *     set sensitivity low                  before `open`: a setting of the agent
 *     open | open resumed                  the caller is connected
 *     voice                                the recognizer notices a voice
 *     interim WORDS                        words that may still change
 *     final WORDS | speech-final WORDS     words that stay; the second also ends the turn
 *     utterance-end                        the recognizer heard no word for a while
 *     token TEXT                           the model goes on; a vertical bar stands for a space at the end
 *     reply TEXT                           the whole reply, and its end
 *     done TOKENS | fail | fail-for-good   the model ends, or fails
 *     grew INDEX MS                        so much of a sentence has come
 *     spoken INDEX MS                      a sentence is whole
 *     mute INDEX | mute-for-good INDEX     it could not be
 *     heard INDEX                          the telephone says that this sentence was heard
 *     key KEY                              the caller presses a key
 *     tool NAME JSON                       the model ends by asking for a tool, whose call is named as the tool
 *     tool-says NAME TEXT                  what came of it
 *     tool-speaks NAME TEXT                it is to be said as it is
 *     stale                                answers to a turn that is over
 *     deaf | leave | wait MS
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
      Object.assign(settings, { [name]: parsedValue(value.join(" ")) });
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
  const text = rest.join(" ");
  const turnId = call.actor.state.turn?.id ?? 0;
  const index = Number(rest[0]);
  const hear = (isFinal: boolean, speechFinal: boolean) => {
    const lastWordEndMs = call.clock.monotonicMs() + AUDIO_AHEAD_MS - 100;
    call.send({ type: "transcript", text, isFinal, speechFinal, lastWordEndMs, endedAgoMs: 100 });
  };
  switch (verb) {
    case "open":
      return call.send({ type: "opened", resumed: text === "resumed" });
    case "voice":
      return call.send({ type: "speechStarted" });
    case "interim":
      return hear(false, false);
    case "final":
      return hear(true, false);
    case "speech-final":
      return hear(true, true);
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
      return call.send({ type, turnId, index, durationMs, firstByteAtMs });
    }
    case "mute":
      return call.send({ type: "sentenceFailed", turnId, index, retryable: true });
    case "mute-for-good":
      return call.send({ type: "sentenceFailed", turnId, index, retryable: false });
    case "heard":
      return call.send({ type: "sentenceHeard", turnId, index });
    case "key":
      return call.send({ type: "digit", digit: text });
    case "tool": {
      const [name = "", ...json] = rest;
      const toolCalls = [{ id: name, name, argumentsJson: json.join(" ") }];
      return call.send({ type: "replyDone", turnId, tokens: 20, toolCalls });
    }
    case "tool-speaks": {
      const [callId = "", ...words] = rest;
      return call.send({ type: "toolDone", turnId, callId, content: "", spoken: words.join(" ") });
    }
    case "tool-says": {
      const [callId = "", ...words] = rest;
      return call.send({ type: "toolDone", turnId, callId, content: words.join(" ") });
    }
    case "stale":
      call.send({ type: "replyToken", turnId: turnId - 1, text: "Too late." });
      call.send({ type: "replyDone", turnId: turnId - 1, tokens: 5 });
      return call.send({ type: "sentenceFailed", turnId: turnId - 1, index: 0, retryable: false });
    case "deaf":
      return call.send({ type: "listeningFailed" });
    case "leave":
      return call.send({
        type: "endRequested",
        ending: { reason: "callerLeft", status: "completed", message: "the caller hung up" },
      });
    case "wait":
      return call.clock.advance(index);
    default:
      throw new Error(`unknown command in a call script: ${command}`);
  }
}

function parsedValue(value: string): unknown {
  return /^[\d[{tf]/.test(value) ? JSON.parse(value) : value;
}
