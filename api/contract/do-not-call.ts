import * as v from "valibot";
import { numberToCall } from "./call.js";
import { requestObject, textField, wholeNumberParameter, worded } from "./fields.js";

/** Numbers in one request. */
const NUMBERS_MAX = 1_000;
const NOTE_CHARACTERS_MAX = 200;

export const DoNotCallBody = requestObject({
  numbers: worded(
    v.pipe(
      v.array(numberToCall("a number that is not to be called")),
      v.minLength(1),
      v.maxLength(NUMBERS_MAX),
      v.description(`the numbers in E.164, a list of 1 to ${NUMBERS_MAX}`),
    ),
  ),
  note: v.nullish(textField("why, for people to read, or null", NOTE_CHARACTERS_MAX), null),
});

export const DoNotCallQuery = requestObject({
  after: v.optional(
    worded(v.pipe(v.string(), v.maxLength(20), v.description("the `next` of the page before"))),
    "",
  ),
  limit: wholeNumberParameter("how many to return", { min: 1, max: 1_000, preset: 100 }),
});

export const DoNotCallNumbers = v.object({
  numbers: v.array(
    v.object({ number: v.string(), note: v.nullable(v.string()), createdAt: v.string() }),
  ),
  next: v.pipe(
    v.nullable(v.string()),
    v.description("the `after` of the next page, null on the last one"),
  ),
});

export const DoNotCallTotal = v.object({
  total: v.pipe(v.number(), v.description("how many numbers are on the list now")),
});
