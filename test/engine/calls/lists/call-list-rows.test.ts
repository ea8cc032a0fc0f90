import assert from "node:assert/strict";
import { test } from "node:test";
import { ROWS_MAX } from "../../../../api/contract/call-list.js";
import {
  CALL_LIST_ROWS_MAX,
  COLUMNS_MAX,
  callListRows,
  type GivenRow,
  ROW_FAULTS_NAMED_MAX,
  TIME_ZONES_MAX,
} from "../../../../engine/calls/lists/call-list-rows.js";
import { RequestError } from "../../../../engine/request-error.js";
import type { CallWindow } from "../../../../storage/calls/call-list-record.js";
import { NOON_MS } from "../../../storage/sample-records.js";

const MORNING: CallWindow = { days: ["mon"], from: "09:00", to: "10:00" };

const ofCsv = (csv: string, window = MORNING) => callListRows({ csv }, [window], NOON_MS);
const ofRows = (...rows: readonly GivenRow[]) => callListRows({ rows }, [MORNING], NOON_MS);

/** The paths and messages of the refusal. */
async function faultsOf(reading: Promise<unknown>): Promise<readonly string[]> {
  const error: unknown = await reading.then(
    () => assert.fail("it was accepted"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof RequestError);
  assert.equal(error.code, "invalid_request");
  return (error.details ?? []).map(({ path, message }) => `${path}: ${message}`);
}

test("columns of a CSV text become the variables of each call", async () => {
  const csv =
    "\uFEFFto, firstName ,note,timeZone\r\n" +
    '"+49 (30) 123-456",Ada,"a ""quoted"", note\nof two lines",\r\n' +
    "\r\n" +
    "'+12125550100,,,America/Chicago";
  assert.deepEqual(await ofCsv(csv), [
    {
      number: "+4930123456",
      timeZones: "Europe/Berlin",
      variables: { firstName: "Ada", note: 'a "quoted", note of two lines' },
    },
    { number: "+12125550100", timeZones: "America/Chicago", variables: {} },
  ]);
});

test("what address books write around a number is left out, and a zero in brackets is no guess", async () => {
  const csv = "to\n\u202a+49\u00a030\u2011123456\u202c\n";
  assert.deepEqual(await faultsOf(ofCsv(csv)), [
    "csv line 2, to: expected an E.164 number such as +15550100",
  ]);
  const marked = "to\n\u202a+49\u00a0(30)\u00a0123-456\u202c\n";
  assert.deepEqual(
    (await ofCsv(marked)).map(({ number }) => number),
    ["+4930123456"],
  );
  const wrong = ["+49 (0)30 123456", "030 123456", "0049 30 123456", "4930123456", "4.93012E+11"];
  const faults = await faultsOf(ofCsv(`to\n${wrong.join("\n")}\n`));
  assert.deepEqual(
    faults,
    wrong.map(
      (_, index) => `csv line ${index + 2}, to: expected an E.164 number such as +15550100`,
    ),
  );
});

test("a column may have the name of a built-in variable, which it overrides", async () => {
  const csv = "to,date,constructor\n+4930123456,1 March,Ada\n";
  const [row] = await ofCsv(csv);
  assert.deepEqual(row?.variables, { date: "1 March", constructor: "Ada" });
});

test("spreadsheets may write semicolons or tabs", async () => {
  for (const delimiter of [";", "\t"]) {
    const csv = `to${delimiter}note\n+4930123456${delimiter}one, two\n`;
    const [row] = await ofCsv(csv);
    assert.deepEqual(row?.variables, { note: "one, two" });
  }
});

test("each row that is wrong is named by its line and field, and the number is not repeated", async () => {
  const csv = [
    "to,name,timeZone",
    "+4930123456,Ada,",
    "030 123456,Ben,",
    `+4930123457,${"x".repeat(501)},Europe/Atlantis`,
    "+4930123456,Ada again,",
    "+49110,Eve,",
    "+49900123456,Finn,",
    "+80012345678,Gil,",
    "+4930123458,Hal,,more",
  ].join("\n");
  const faults = await faultsOf(ofCsv(csv));
  assert.deepEqual(faults, [
    "csv line 3, to: expected an E.164 number such as +15550100",
    "csv line 4, timeZone: expected a time zone such as Europe/Berlin",
    "csv line 4, name: expected text of at most 500 characters",
    "csv line 5, to: expected each number once; it is at csv line 2, to already",
    "csv line 6, to: expected an E.164 number such as +15550100",
    "csv line 7, to: expected a number that may be called; agents cannot call premium numbers",
    "csv line 8, to: expected the number of a country; for any other one, name its timeZone",
    "csv line 9: expected at most 3 fields, as the first line has",
  ]);
});

test("a number whose zones have no common hour needs a timeZone", async () => {
  const russian = "+74951234567";
  assert.deepEqual(await faultsOf(ofRows({ to: russian })), [
    "rows.0.to: expected a timeZone: the windows have no time that is within them in all time zones of the number",
  ]);
  const [row] = await ofRows({ to: russian, timeZone: "Europe/Moscow" });
  assert.equal(row?.timeZones, "Europe/Moscow");
});

test("a text without usable columns is refused as a whole", async () => {
  assert.deepEqual(await faultsOf(ofCsv("number,name\n+4930123456,Ada\n")), [
    "csv line 1: expected the names of the columns, with to among them",
  ]);
  assert.deepEqual(await faultsOf(ofCsv("to,first name,to\n+4930123456,Ada,\n")), [
    "csv line 1, column 2: expected a letter and up to 39 letters, digits and underscores",
    "csv line 1, column 3: expected a name that no other column has",
  ]);
  assert.deepEqual(await faultsOf(ofCsv('to,name\n+4930123456,"Ada\n')), [
    "csv line 2: expected a closing quote",
  ]);
  assert.deepEqual(await faultsOf(ofCsv("to,name\n")), [
    "csv: expected at least one person to call",
  ]);
  assert.deepEqual(await faultsOf(ofCsv("\n")), ["csv: expected at least one person to call"]);
});

test("of many faults the first are named and the others counted", async () => {
  const lines = Array.from({ length: ROW_FAULTS_NAMED_MAX + 5 }, () => "nobody");
  const faults = await faultsOf(ofCsv(`to\n${lines.join("\n")}`));
  assert.equal(faults.length, ROW_FAULTS_NAMED_MAX + 1);
  assert.equal(faults.at(-1), "csv: 5 more faults");
});

test("a list of more rows than the limit is refused", async () => {
  assert.equal(ROWS_MAX, CALL_LIST_ROWS_MAX, "the contract says the engine's limit");
  const numbers = Array.from({ length: CALL_LIST_ROWS_MAX + 1 }, (_, n) => `+4930${1_000_000 + n}`);
  const rows = await ofCsv(`to\n${numbers.slice(1).join("\n")}`);
  assert.equal(rows.length, CALL_LIST_ROWS_MAX);
  assert.deepEqual(await faultsOf(ofCsv(`to\n${numbers.join("\n")}`)), [
    `csv: expected at most ${CALL_LIST_ROWS_MAX} rows; make several lists`,
  ]);
});

test("of a million rows no more are read than a list may have", async () => {
  const million = 1_000_000;
  const csv = `to\n${"+4930123456\n".repeat(million)}`;
  const faults = await faultsOf(ofCsv(csv));
  assert.equal(
    faults.at(-1),
    `csv: expected at most ${CALL_LIST_ROWS_MAX} rows; make several lists`,
  );
});

test("a text of more columns than a call has variables is refused before they are compared", async () => {
  const names = Array.from({ length: 100_000 }, (_, index) => `c${index}`);
  assert.deepEqual(await faultsOf(ofCsv(`to,${names.join(",")}\n`)), [
    `csv line 1: expected at most ${COLUMNS_MAX} columns`,
  ]);
  const allowed = names.slice(0, COLUMNS_MAX - 2).join(",");
  assert.equal((await ofCsv(`to,timeZone,${allowed}\n+4930123456\n`)).length, 1);
});

test("a time zone is stored in one spelling, whatever the rows write", async () => {
  const spellings = ["Europe/Berlin", "eUROPE/berLIN", "europe/berlin"];
  const rows = spellings.map((timeZone, index) => ({ to: `+493012345${index}0`, timeZone }));
  assert.deepEqual(
    (await ofRows(...rows)).map(({ timeZones }) => timeZones),
    ["Europe/Berlin", "Europe/Berlin", "Europe/Berlin"],
  );
});

test("a list of more time zones than the limit is refused", async () => {
  const zones = Intl.supportedValuesOf("timeZone").slice(0, TIME_ZONES_MAX + 1);
  const rows = zones.map((timeZone, index) => ({ to: `+4930${1_000_000 + index}`, timeZone }));
  assert.equal((await ofRows(...rows.slice(1))).length, TIME_ZONES_MAX);
  assert.deepEqual(await faultsOf(ofRows(...rows)), [
    `rows.${TIME_ZONES_MAX}.timeZone: expected at most ${TIME_ZONES_MAX} different time zones in a list`,
  ]);
});
