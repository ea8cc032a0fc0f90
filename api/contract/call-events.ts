import * as v from "valibot";
import {
  BARGE_IN_ACTIONS,
  BARGE_IN_REASONS,
  CONTINUATIONS,
  END_OF_TURN_REASONS,
} from "../../engine/conversation/reasons.js";
import { CallSummary } from "./call.js";
import { Id, Timestamp } from "./fields.js";

const callId = v.pipe(Id, v.description("of the call record (`_id`)"));

const Began = v.object({
  callId,
  agentId: Id,
  channel: CallSummary.entries.channel,
  startedAt: Timestamp,
});

const turn = v.pipe(v.number(), v.description("of the agent, as in `metadata.turns`"));

const BargeIn = v.pipe(
  v.object({
    callId,
    turn,
    action: v.picklist(BARGE_IN_ACTIONS),
    reason: v.picklist(BARGE_IN_REASONS),
    atMs: v.pipe(v.number(), v.description("from the start of the agent's turn")),
  }),
  v.description(
    "what the caller's speech does to the agent's, and why: each change once, a bounded number for each turn",
  ),
);

const EndOfTurn = v.pipe(
  v.object({
    callId,
    turn,
    reason: v.picklist(END_OF_TURN_REASONS),
    waitedMs: v.pipe(v.number(), v.description("from the caller's last word to the decision")),
    waitedFor: v.pipe(
      v.optional(v.picklist(CONTINUATIONS)),
      v.description("of `maxEndpointingDelay`: why more words were expected"),
    ),
  }),
  v.description("why the caller's turn is over that this turn of the agent answers"),
);

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
  bargeIn: BargeIn,
  endOfTurn: EndOfTurn,
  turn: Turn,
  ended: Ended,
  pulse: Pulse,
};
