import type * as v from "valibot";
import { choiceField, nameField, numberField, requestObject, wholeNumberField } from "./fields.js";

const DAY_MS = 24 * 60 * 60 * 1_000;
/** More than anybody says at once. */
const WRITTEN_CHARACTERS_MAX = 1_000;

/** The text frames of a client of the stream mode. */
export const CallerMessageHead = requestObject({
  type: choiceField("what is told", ["played", "written"]),
});

/** What a client says of its playing; what can be true of a turn is known by the call alone. */
export const PlayedReport = requestObject({
  type: choiceField("what is told", ["played"]),
  turnId: wholeNumberField("the `turnId` of an `audioStart`", 1, Number.MAX_SAFE_INTEGER),
  ms: numberField("how much of that turn's audio was played until now, in ms", 0, DAY_MS),
});
export type PlayedReport = v.InferOutput<typeof PlayedReport>;

/** What the caller has written in place of saying it. */
export const WrittenWords = requestObject({
  type: choiceField("what is told", ["written"]),
  text: nameField("the caller's words", WRITTEN_CHARACTERS_MAX),
});
export type WrittenWords = v.InferOutput<typeof WrittenWords>;
