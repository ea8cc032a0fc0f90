import * as v from "valibot";
import { PHONE_VENDOR_NAMES } from "../../engine/telephony/telephony-settings.js";
import {
  CALL_LIST_ROW_STATES,
  CALL_LIST_STATES,
  type RETRIED_OUTCOMES,
  WEEKDAYS,
} from "../../storage/calls/call-list-record.js";
import { numberToCall } from "./call.js";
import { variablesField } from "./call-values.js";
import {
  Count,
  choiceField,
  flagField,
  Id,
  idField,
  knownObjectField,
  nameField,
  requestObject,
  Timestamp,
  wholeNumberField,
  wholeNumberParameter,
  worded,
} from "./fields.js";

/** Fixed by `CALL_LIST_ROWS_MAX` of the engine, which a test compares. */
export const ROWS_MAX = 5_000;
/** A body of JSON is validated at once, on the thread that calls share; the rows of a CSV text are read in turns. */
const JSON_ROWS_MAX = 1_000;
const WINDOWS_MAX = 7;
const CALLS_AT_ONCE_MAX = 100;
const CALLS_AT_ONCE_PRESET = 2;
const RETRY_TIMES_MAX = 10;
/** A week. */
const RETRY_MINUTES_MAX = 10_080;
const ROWS_PAGE_MAX = 500;
const ZONE_CHARACTERS_MAX = 64;
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const TIME_OR_END = /^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/;

function timeField(subject: string, pattern: RegExp, example: string) {
  return worded(
    v.pipe(
      v.string(),
      v.regex(pattern),
      v.examples([example]),
      v.description(`${subject}, HH:MM such as ${example}`),
    ),
  );
}

const windowField = v.pipe(
  knownObjectField("hours of some days", {
    days: worded(
      v.pipe(
        v.array(v.picklist(WEEKDAYS)),
        v.minLength(1),
        v.maxLength(WEEKDAYS.length),
        v.checkItems((day, index, days) => days.indexOf(day) === index),
        v.description(`different days, a list of ${WEEKDAYS.join(", ")}`),
      ),
    ),
    from: timeField("when calls begin", TIME, "09:00"),
    to: timeField("when no more begin, later than from; 24:00 ends a day", TIME_OR_END, "20:00"),
  }),
  v.forward(
    v.check(
      ({ from, to }) => !TIME.test(from) || !TIME_OR_END.test(to) || from < to,
      "expected a time later than from; hours over midnight are two windows",
    ),
    ["to"],
  ),
);

const retryField = (outcome: string) =>
  knownObjectField(`what follows after ${outcome}`, {
    times: wholeNumberField("how many more calls there are at most", 1, RETRY_TIMES_MAX),
    afterMinutes: wholeNumberField("minutes until the next one", 1, RETRY_MINUTES_MAX),
  });

const OUTCOME_WORDS = {
  busy: "a busy line",
  noAnswer: "a call that nobody answered",
  machine: "an answering machine that got no message",
  failed: "a call that the telephony vendor could not connect, or refused",
} as const satisfies Readonly<Record<(typeof RETRIED_OUTCOMES)[number], string>>;

const rowField = knownObjectField("a person to call", {
  to: worded(v.pipe(v.string(), v.maxLength(20), v.description("the number, in E.164"))),
  timeZone: v.exactOptional(
    worded(
      v.pipe(
        v.string(),
        v.nonEmpty(),
        v.maxLength(ZONE_CHARACTERS_MAX),
        v.examples(["America/Chicago"]),
        v.description("the person's time zone; left out, those of the number"),
      ),
    ),
  ),
  variables: v.exactOptional(variablesField()),
});

export const CallListBody = requestObject({
  name: nameField("the list's name"),
  agentId: idField("the id of the agent that calls"),
  from: numberToCall("a number that the platform has allowed the organization to call from"),
  vendor: v.optional(
    choiceField(
      "the telephony vendor that places the calls; left out, the first whose account is configured",
      PHONE_VENDOR_NAMES,
    ),
  ),
  detectMachine: v.optional(
    flagField(
      "whether answering machines are told from people: the agent leaves them its persona.outbound.voicemailMessage, or hangs up",
    ),
    true,
  ),
  callsMax: v.optional(
    wholeNumberField("calls of the list at the same time", 1, CALLS_AT_ONCE_MAX),
    CALLS_AT_ONCE_PRESET,
  ),
  windows: worded(
    v.pipe(
      v.array(windowField),
      v.minLength(1),
      v.maxLength(WINDOWS_MAX),
      v.description(`when people are called, in their own time, a list of 1 to ${WINDOWS_MAX}`),
    ),
  ),
  retries: v.optional(
    knownObjectField("after which outcomes a person is called again", {
      busy: v.exactOptional(retryField(OUTCOME_WORDS.busy)),
      noAnswer: v.exactOptional(retryField(OUTCOME_WORDS.noAnswer)),
      machine: v.exactOptional(retryField(OUTCOME_WORDS.machine)),
      failed: v.exactOptional(retryField(OUTCOME_WORDS.failed)),
    }),
    {},
  ),
  rows: v.optional(
    worded(
      v.pipe(
        v.array(rowField),
        v.minLength(1),
        v.maxLength(JSON_ROWS_MAX),
        v.description(`the people, a list of 1 to ${JSON_ROWS_MAX}; csv has up to ${ROWS_MAX}`),
      ),
    ),
  ),
  csv: v.optional(
    worded(
      v.pipe(
        v.string(),
        v.nonEmpty(),
        v.examples(["to,firstName\n+15550100,Ada\n"]),
        v.description(
          "the people as CSV text in place of rows: a first line with the names of the columns, among them to, and perhaps timeZone; all others become variables",
        ),
      ),
    ),
  ),
});

export const CallListRowsQuery = requestObject({
  state: v.optional(choiceField("the state of the people", CALL_LIST_ROW_STATES)),
  after: wholeNumberParameter("the `next` of the page before", {
    min: 0,
    max: ROWS_MAX,
    preset: 0,
  }),
  limit: wholeNumberParameter("how many to return", { min: 1, max: ROWS_PAGE_MAX, preset: 100 }),
});

const Retry = v.object({ times: Count, afterMinutes: Count });

export const CallList = v.object({
  id: Id,
  name: v.string(),
  agentId: Id,
  from: v.string(),
  vendor: v.nullable(v.string()),
  detectMachine: v.boolean(),
  callsMax: Count,
  windows: v.array(
    v.object({ days: v.array(v.picklist(WEEKDAYS)), from: v.string(), to: v.string() }),
  ),
  retries: v.object({
    busy: v.optional(Retry),
    noAnswer: v.optional(Retry),
    machine: v.optional(Retry),
    failed: v.optional(Retry),
  }),
  state: v.pipe(
    v.picklist(CALL_LIST_STATES),
    v.description("ready until it is started; completed when nobody is left to be called"),
  ),
  hold: v.pipe(
    v.nullable(
      v.object({
        code: v.string(),
        reason: v.string(),
        since: v.pipe(Timestamp, v.description("when that was so for the first time")),
        retryAt: v.pipe(
          v.nullable(Timestamp),
          v.description("when a call is placed next, null for a list that is paused"),
        ),
      }),
    ),
    v.description("why the last call could not be placed, null since one could"),
  ),
  nextCallAt: v.pipe(
    v.nullable(Timestamp),
    v.description("of a list that waits for its hours or for a retry"),
  ),
  counts: v.pipe(
    v.object(v.entriesFromList(CALL_LIST_ROW_STATES, Count)),
    v.description("how many people are in each state"),
  ),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

export const CallListProgress = v.object({
  ...CallList.entries,
  outcomes: v.pipe(
    v.array(
      v.object({ state: v.picklist(CALL_LIST_ROW_STATES), reason: v.string(), people: Count }),
    ),
    v.description("how many people are in a state for the same reason, the most first"),
  ),
});

export const CallListRows = v.object({
  rows: v.array(
    v.object({
      position: v.pipe(Count, v.description("in the list, from 1")),
      to: v.string(),
      timeZones: v.pipe(v.array(v.string()), v.description("that have to be within the windows")),
      variables: v.record(v.string(), v.string()),
      state: v.picklist(CALL_LIST_ROW_STATES),
      attempts: v.pipe(Count, v.description("calls that were placed")),
      lastCallId: v.nullable(Id),
      lastCalledAt: v.nullable(Timestamp),
      reason: v.pipe(
        v.nullable(v.string()),
        v.description("how the last call ended, as its record has it, or why there is none"),
      ),
      nextCallAfter: v.pipe(
        v.nullable(Timestamp),
        v.description("of a person who waits for another call"),
      ),
    }),
  ),
  next: v.pipe(
    v.nullable(Count),
    v.description("the `after` of the next page, null on the last one"),
  ),
});
