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

const CallBegan = v.object({
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
    "barge-in decisions and their reasons: each change once, a bounded number per turn",
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
    language: v.pipe(
      v.exactOptional(v.string()),
      v.description("what the caller spoke, for an agent with several languages"),
    ),
    switchedFrom: v.pipe(
      v.exactOptional(v.string()),
      v.description("the call's language before this turn, which has changed it"),
    ),
  }),
  v.description("why the caller's turn ended that this agent turn answers"),
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

const transcriptFields = {
  role: v.picklist(["user", "assistant"]),
  text: v.pipe(
    v.string(),
    v.description("the caller's words, or all that the agent has said of its turn so far"),
  ),
  isFinal: v.pipe(
    v.boolean(),
    v.description("the caller's words are final; the agent's are those that were played"),
  ),
};

const Words = v.object({ callId, ...transcriptFields });

const Present = v.pipe(
  v.object({
    callId,
    words: v.array(v.object(transcriptFields)),
    isMuted: v.pipe(v.boolean(), v.description("the agent is muted")),
  }),
  v.description(
    "what was said so far and is in no stored turn; it replaces all earlier words. Sent when a viewer starts to watch the call",
  ),
);

const Muted = v.pipe(
  v.object({ callId, isMuted: v.boolean() }),
  v.description("the agent was muted, or may speak again"),
);

const Watching = v.pipe(
  v.object({}),
  v.description(
    "sent first: no event after it is missed; for calls on another server this holds from a moment later",
  ),
);
const Pulse = v.pipe(
  v.object({}),
  v.description("keep-alive: nothing has happened for some seconds"),
);

/** Words are told of a call that is watched by itself. */
export const CALL_EVENTS = {
  watching: Watching,
  began: CallBegan,
  present: Present,
  muted: Muted,
  words: Words,
  bargeIn: BargeIn,
  endOfTurn: EndOfTurn,
  turn: Turn,
  ended: Ended,
  pulse: Pulse,
};
