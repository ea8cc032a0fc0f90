import assert from "node:assert/strict";
import { test } from "node:test";
import { isOpen, nextOpening, timeZoneOf } from "../../../../engine/calls/lists/call-windows.js";
import { zonesOfNumber } from "../../../../engine/calls/lists/number-time-zones.js";
import type { CallWindow } from "../../../../storage/calls/call-list-record.js";

const WEEKDAYS: CallWindow = {
  days: ["mon", "tue", "wed", "thu", "fri"],
  from: "09:00",
  to: "20:00",
};

/** As ISO 8601 without seconds; undefined if the windows never open. */
function opening(zones: string, from: string, ...windows: readonly CallWindow[]) {
  const atMs = nextOpening(windows, zones, Date.parse(from));
  return atMs === undefined ? undefined : new Date(atMs).toISOString().slice(0, 16);
}

test("people are called in their own hours, and on their own days", () => {
  // A Friday in winter: Berlin is one hour ahead of UTC, Tokyo nine.
  assert.equal(opening("Europe/Berlin", "2026-01-09T08:00:00Z", WEEKDAYS), "2026-01-09T08:00");
  assert.equal(opening("Europe/Berlin", "2026-01-09T07:59:00Z", WEEKDAYS), "2026-01-09T08:00");
  assert.equal(opening("Europe/Berlin", "2026-01-09T18:59:00Z", WEEKDAYS), "2026-01-09T18:59");
  assert.equal(opening("Europe/Berlin", "2026-01-09T19:00:00Z", WEEKDAYS), "2026-01-12T08:00");
  assert.equal(opening("Asia/Tokyo", "2026-01-09T19:00:00Z", WEEKDAYS), "2026-01-12T00:00");
  const saturdays: CallWindow = { days: ["sat"], from: "10:30", to: "24:00" };
  assert.equal(
    opening("Asia/Kolkata", "2026-01-09T19:00:00Z", WEEKDAYS, saturdays),
    "2026-01-10T05:00",
  );
});

test("hours follow daylight saving time", () => {
  // Berlin moves its clocks on 29 March 2026, New York on 8 March.
  assert.equal(opening("Europe/Berlin", "2026-03-27T20:00:00Z", WEEKDAYS), "2026-03-30T07:00");
  assert.equal(opening("America/New_York", "2026-03-06T04:00:00Z", WEEKDAYS), "2026-03-06T14:00");
  assert.equal(opening("America/New_York", "2026-03-07T04:00:00Z", WEEKDAYS), "2026-03-09T13:00");
  const everyDay: CallWindow = { days: ["sun"], from: "02:30", to: "03:30" };
  assert.equal(
    opening("Europe/Berlin", "2026-03-28T20:00:00Z", everyDay),
    "2026-04-05T00:30",
    "a window that begins in the hour that a day leaves out is left out on that day",
  );
});

test("two windows are one night, and the hour that a day repeats is within them both times", () => {
  const night: readonly CallWindow[] = [
    { days: ["sat"], from: "22:00", to: "24:00" },
    { days: ["sun"], from: "00:00", to: "02:30" },
  ];
  // In the night to 25 October 2026, Berlin's clocks go back from 03:00 to 02:00, at 01:00 UTC.
  const isOpenAt = (time: string) => isOpen(night, "Europe/Berlin", Date.parse(time));
  const opens = ["2026-10-24T19:59:59Z", "2026-10-24T20:00:00Z", "2026-10-24T21:59:59Z"].map(
    isOpenAt,
  );
  assert.deepEqual(opens, [false, true, true]);
  const after = ["22:00:00Z", "22:00:01Z", "23:59:00Z"].map((time) =>
    isOpenAt(`2026-10-24T${time}`),
  );
  assert.deepEqual(after, [true, true, true], "midnight is no gap");
  const changes = ["00:29:59Z", "00:30:00Z", "01:00:00Z", "01:29:59Z", "01:30:00Z"].map((time) =>
    isOpenAt(`2026-10-25T${time}`),
  );
  assert.deepEqual(changes, [true, false, true, true, false]);
  assert.equal(
    opening("Europe/Berlin", "2026-10-25T01:30:00Z", ...night),
    "2026-10-31T21:00",
    "in winter time",
  );
});

test("a number that may be in several zones is called when it is within the windows in all of them", () => {
  const both = "America/New_York America/Los_Angeles";
  assert.equal(opening(both, "2026-01-09T15:00:00Z", WEEKDAYS), "2026-01-09T17:00");
  assert.equal(opening(both, "2026-01-10T00:59:00Z", WEEKDAYS), "2026-01-10T00:59");
  assert.equal(opening(both, "2026-01-10T01:00:00Z", WEEKDAYS), "2026-01-12T17:00");
  const morning: CallWindow = { days: ["mon"], from: "09:00", to: "11:00" };
  assert.equal(opening(both, "2026-01-09T15:00:00Z", morning), undefined);
});

test("what a number begins with says which zones it may be in", () => {
  const zonesOf = (number: string) => zonesOfNumber(number)?.split(" ");
  assert.deepEqual(zonesOf("+4930123456"), ["Europe/Berlin"]);
  assert.deepEqual(zonesOf("+12125550100"), ["America/New_York"]);
  assert.deepEqual(zonesOf("+12085550100"), ["America/Denver", "America/Los_Angeles"]);
  assert.deepEqual(zonesOf("+18765550100"), ["America/Jamaica"]);
  assert.deepEqual(zonesOf("+77271234567"), ["Asia/Almaty"]);
  assert.equal(zonesOf("+74951234567")?.length, 11, "Russia's numbers may be anywhere in it");
  assert.ok(zonesOf("+15550100")?.includes("Pacific/Honolulu"), "an area code that is not known");
  assert.equal(zonesOf("+88213123456"), undefined, "satellites and networks belong to no country");
  assert.equal(zonesOf("+80012345678"), undefined);
});

test("each zone of the tables is one that this Node.js knows", () => {
  const digits = Array.from({ length: 10 }, (_, digit) => String(digit));
  const prefixes = digits.flatMap((a) => digits.flatMap((b) => digits.map((c) => a + b + c)));
  const zones = [...prefixes, ...prefixes.map((code) => `1${code}`)].flatMap(
    (prefix) => zonesOfNumber(`+${prefix}5550100`)?.split(" ") ?? [],
  );
  assert.ok(new Set(zones).size > 200, String(new Set(zones).size));
  assert.deepEqual(
    [...new Set(zones)].filter((zone) => timeZoneOf(zone) === undefined),
    [],
  );
  assert.equal(timeZoneOf("Europe/Atlantis"), undefined);
  assert.equal(timeZoneOf("eUROPE/berLIN"), "Europe/Berlin");
});
