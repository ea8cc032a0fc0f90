import * as v from "valibot";
import { CallSummary } from "./call.js";
import { Id, Timestamp } from "./fields.js";

const callId = v.pipe(Id, v.description("of the call record (`_id`)"));

const Began = v.object({
  callId,
  agentId: Id,
  channel: CallSummary.entries.channel,
  startedAt: Timestamp,
});

const Turn = v.pipe(
  v.object({ callId, metrics: CallSummary.entries.metrics }),
  v.description("a turn is over and stored"),
);

const Ended = v.pipe(
  v.object({
    callId,
    status: v.picklist(["completed", "failed"]),
    endReason: v.pipe(v.string(), v.description("as in the call's metadata")),
  }),
  v.description("the call is over and stored"),
);

const saidWords = {
  role: v.picklist(["user", "assistant"]),
  text: v.pipe(
    v.string(),
    v.description("the caller's words, or all that the agent has said of its turn so far"),
  ),
  isFinal: v.pipe(
    v.boolean(),
    v.description("the caller's words are settled; the agent's are those that were heard"),
  ),
};

const Words = v.object({ callId, ...saidWords });

const Present = v.pipe(
  v.object({ callId, words: v.array(v.object(saidWords)) }),
  v.description(
    "what was said so far and is in no stored turn, in place of all words told before: sent when somebody begins to watch the call",
  ),
);

const Watching = v.pipe(
  v.object({}),
  v.description(
    "sent first: from now on nothing is missed, of calls that another server has from a moment later",
  ),
);
const Pulse = v.pipe(v.object({}), v.description("nothing has happened for some seconds"));

/** Words are told of a call that is watched by itself. */
export const CALL_EVENTS = {
  watching: Watching,
  began: Began,
  present: Present,
  words: Words,
  turn: Turn,
  ended: Ended,
  pulse: Pulse,
};
