import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { CallListBody } from "../../../api/contract/call-list.js";

const WINDOW = { days: ["mon"], from: "09:00", to: "20:00" };
const LIST = {
  name: "Reminders",
  agentId: "agent",
  from: "+15550109999",
  windows: [WINDOW],
  csv: "to\n+4930123456\n",
};

/** The paths and messages of what is wrong. */
function faultsOf(fields: object): readonly string[] {
  const parsed = v.safeParse(CallListBody, { ...LIST, ...fields });
  return (parsed.issues ?? []).map((issue) => `${v.getDotPath(issue) ?? ""}: ${issue.message}`);
}

test("a list has two calls at the same time, hangs up on machines and repeats nothing unless it says so", () => {
  const { detectMachine, callsMax, retries } = v.parse(CallListBody, LIST);
  assert.deepEqual(
    { detectMachine, callsMax, retries },
    {
      detectMachine: true,
      callsMax: 2,
      retries: {},
    },
  );
});

test("hours that are none, and rules that do not exist, are refused by their names", () => {
  const windowsWith = (fields: object) => faultsOf({ windows: [{ ...WINDOW, ...fields }] });
  assert.deepEqual(windowsWith({ to: "09:00" }), [
    "windows.0.to: expected a time later than from; hours over midnight are two windows",
  ]);
  assert.deepEqual(windowsWith({ from: "9:00" }), [
    "windows.0.from: expected when calls begin, HH:MM such as 09:00",
  ]);
  assert.deepEqual(windowsWith({ to: "24:00" }), []);
  assert.match(windowsWith({ days: ["mon", "mon"] }).join(), /^windows\.0\.days\.1: .*different/);
  assert.match(windowsWith({ timeZone: "UTC" }).join(), /^windows\.0\.timeZone: expected one of/);
  assert.match(faultsOf({ windows: [] }).join(), /^windows: expected when people are called/);
  assert.match(
    faultsOf({ retries: { hungUp: { times: 1, afterMinutes: 1 } } }).join(),
    /^retries\.hungUp: expected one of the fields busy, noAnswer, machine, failed/,
  );
  assert.match(
    faultsOf({ retries: { busy: { times: 0, afterMinutes: 1 } } }).join(),
    /^retries\.busy\.times: .*from 1 to 10/,
  );
});

test("rows in JSON are limited, and each field that is wrong is named", () => {
  const rows = Array.from({ length: 1_001 }, () => ({ to: "+4930123456" }));
  assert.match(faultsOf({ rows }).join(), /^rows: expected the people, a list of 1 to 1000/);
  assert.deepEqual(faultsOf({ rows: rows.slice(1) }), []);
  assert.match(
    faultsOf({ rows: [{ to: "+4930123456", name: "Ada" }] }).join(),
    /^rows\.0\.name: expected one of the fields to, timeZone, variables/,
  );
  assert.match(
    faultsOf({ rows: [{ to: "+4930123456", variables: { "first name": "Ada" } }] }).join(),
    /^rows\.0\.variables\.first name: expected/,
  );
});
