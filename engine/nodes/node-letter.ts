import * as v from "valibot";
import { END_REASONS } from "../conversation/call-end.js";
import { StoredCallInfo } from "../telephony/call-info.js";

/** Where a node listens, and what all of them listen to. */
export const channelOf = (startId: string): string => `parley ${startId}`;
/** Something of the nodes has changed; the text says nothing. */
export const ALL_NODES = "parley nodes";

const OutboundClaims = v.object({ callId: v.string(), orgId: v.string(), agentId: v.string() });
const Ending = v.object({
  reason: v.picklist(END_REASONS),
  status: v.picklist(["completed", "failed"]),
  message: v.string(),
  transferTo: v.exactOptional(v.string()),
});

/** What a node may ask of another: another version may be at work there. */
const NodeAsks = v.variant("name", [
  v.object({ name: v.picklist(["isRinging", "hasCall"]), asks: v.string() }),
  v.object({
    name: v.literal("handOver"),
    asks: v.object({ callId: v.string(), orgId: v.string() }),
  }),
  v.object({
    name: v.literal("report"),
    asks: v.object({
      claims: OutboundClaims,
      report: v.object({
        status: v.string(),
        answeredBy: v.string(),
        callInfo: v.optional(StoredCallInfo),
      }),
    }),
  }),
  v.object({
    name: v.literal("endCall"),
    asks: v.object({ callId: v.string(), ending: Ending }),
  }),
]);

/** What comes back, by the name of what was asked. */
export const NODE_ANSWERS = {
  isRinging: v.boolean(),
  handOver: v.optional(
    v.object({
      claims: OutboundClaims,
      callRef: v.optional(v.string()),
      callInfo: v.optional(StoredCallInfo),
      answeredBy: v.string(),
    }),
  ),
  report: v.boolean(),
  endCall: v.boolean(),
  hasCall: v.boolean(),
} as const;

export const Letter = v.variant("kind", [
  v.object({
    kind: v.literal("question"),
    /** Undefined where nobody waits for an answer: the version before this one told the end of a call so. */
    id: v.optional(v.number()),
    from: v.string(),
    question: NodeAsks,
  }),
  v.object({ kind: v.literal("answer"), id: v.number(), value: v.optional(v.unknown()) }),
  v.object({ kind: v.literal("failed"), id: v.number() }),
]);

export type LetterOf = v.InferOutput<typeof Letter>;
export type NodeAsk = v.InferOutput<typeof NodeAsks>;
