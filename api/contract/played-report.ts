import type * as v from "valibot";
import { choiceField, numberField, requestObject, wholeNumberField } from "./fields.js";

const DAY_MS = 24 * 60 * 60 * 1_000;

/** What a client of the stream mode may say of its playing; what can be true of a turn is known by the call alone. */
export const PlayedReport = requestObject({
  type: choiceField("what is told", ["played"]),
  turnId: wholeNumberField("the `turnId` of an `audioStart`", 1, Number.MAX_SAFE_INTEGER),
  ms: numberField("how much of that turn's audio was played until now, in ms", 0, DAY_MS),
});
export type PlayedReport = v.InferOutput<typeof PlayedReport>;
