import type { PlacedReport } from "./phone-vendor.js";
import { webhookField } from "./webhook-field.js";

/** What vendors call the outcome of a placed call, in the words of `PlacedReport`. */
const STATUS_BY_WORD: ReadonlyMap<string, string> = new Map([
  ["timeout", "no-answer"],
  ["unanswered", "no-answer"],
  ["noanswer", "no-answer"],
  ["cancelled", "canceled"],
  ["cancel", "canceled"],
  // The person has refused the call, which networks report as a busy line, too.
  ["rejected", "busy"],
  ["congestion", "failed"],
  ["chanunavail", "failed"],
]);

/** The report of a vendor that has the outcome in `statusField`; `answeredBy` is the vendor's verdict, where it has one. */
export function placedReport(body: string, statusField: string, answeredBy = ""): PlacedReport {
  const word = webhookField(body, statusField).toLowerCase();
  return { status: STATUS_BY_WORD.get(word) ?? word, answeredBy };
}

/** As Twilio, SignalWire and Telnyx report. */
export function twimlPlacedReport(body: string): PlacedReport {
  return placedReport(body, "CallStatus", webhookField(body, "AnsweredBy"));
}
