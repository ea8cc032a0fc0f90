/** The people of an uploaded list: read from JSON or CSV, and either all of them are right or the list is refused. */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { CallWindow, NewCallListRow } from "../../../storage/calls/call-list-record.js";
import { type FieldFault, invalidFields } from "../../request-error.js";
import {
  oneLine,
  VARIABLE_CHARACTERS_MAX,
  VARIABLE_NAME,
  VARIABLES_MAX,
} from "../../telephony/call-values.js";
import { numberRefusal } from "../../telephony/refused-numbers.js";
import { nextOpening, timeZoneOf } from "./call-windows.js";
import { csvRecords, UnclosedQuoteError } from "./csv-records.js";
import { zonesOfNumber } from "./number-time-zones.js";

/** A longer list is several lists. */
export const CALL_LIST_ROWS_MAX = 5_000;
/** Faults that are named; the others are counted. */
export const ROW_FAULTS_NAMED_MAX = 20;
/** The zones that rows name; each is looked at on its own, whenever the list is. */
export const TIME_ZONES_MAX = 100;
/** Read in one turn of the event loop, which calls share. */
const ROWS_PER_TURN = 100;

const E164 = /^\+[1-9]\d{6,14}$/;
/** What people, spreadsheets and address books write into numbers: also marks that cannot be seen. */
const NUMBER_DECORATION = /^'|[\s.\-\u200b-\u200f\u202a-\u202e\u2060-\u2069]|\((?!0\))|(?<!\(0)\)/g;
const ZONE_COLUMN = "timeZone";
const NUMBER_COLUMN = "to";
/** The two above, and a column for each variable. */
export const COLUMNS_MAX = VARIABLES_MAX + 2;

/** A person as uploaded. */
export interface GivenRow {
  readonly to: string;
  readonly timeZone?: string | undefined;
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

/** Where a row stands, for the words about a fault in it. */
interface PlacedRow extends GivenRow {
  readonly pathOf: (field: string) => string;
}

/** RequestError `invalid_request`: names the rows that are wrong, with the field of each. */
export async function callListRows(
  given: { readonly rows: readonly GivenRow[] } | { readonly csv: string },
  windows: readonly CallWindow[],
  nowMs: number,
): Promise<readonly NewCallListRow[]> {
  const reader = new RowReader(windows, nowMs);
  const source = "csv" in given ? rowsOfCsv(given.csv) : rowsOfJson(given.rows);
  let count = 0;
  for (const row of source) {
    count += 1;
    if (count > CALL_LIST_ROWS_MAX) {
      const message = `expected at most ${CALL_LIST_ROWS_MAX} rows; make several lists`;
      throw invalidFields([{ path: "csv" in given ? "csv" : "rows", message }]);
    }
    if ("fault" in row) reader.add(row.fault);
    else reader.read(row);
    if (count % ROWS_PER_TURN === 0) await nextTurn();
  }
  return reader.finish("csv" in given ? "csv" : "rows");
}

function* rowsOfJson(rows: readonly GivenRow[]): Generator<PlacedRow> {
  for (const [index, row] of rows.entries()) {
    yield { ...row, pathOf: (field) => `rows.${index}.${field}` };
  }
}

function* rowsOfCsv(csv: string): Generator<PlacedRow | { readonly fault: FieldFault }> {
  let columns: readonly string[] | undefined;
  try {
    for (const { line, fields } of csvRecords(csv)) {
      const pathOf = (field: string) => `csv line ${line}, ${field}`;
      if (columns === undefined) {
        columns = columnsOf(fields, line);
        continue;
      }
      if (fields.length > columns.length) {
        const message = `expected at most ${columns.length} fields, as the first line has`;
        yield { fault: { path: `csv line ${line}`, message } };
        continue;
      }
      const cells = new Map(columns.map((column, index) => [column, fields[index]?.trim() ?? ""]));
      const timeZone = cells.get(ZONE_COLUMN) || undefined;
      const to = (cells.get(NUMBER_COLUMN) ?? "").replace(NUMBER_DECORATION, "");
      cells.delete(ZONE_COLUMN);
      cells.delete(NUMBER_COLUMN);
      const filled = [...cells].filter(([, value]) => value !== "");
      yield { to, timeZone, variables: Object.fromEntries(filled), pathOf };
    }
  } catch (error) {
    if (!(error instanceof UnclosedQuoteError)) throw error;
    const message = "expected a closing quote";
    yield { fault: { path: `csv line ${error.line}`, message } };
  }
}

/** RequestError `invalid_request`: without the columns nothing else can be read. */
function columnsOf(fields: readonly string[], line: number): readonly string[] {
  if (fields.length > COLUMNS_MAX) {
    const message = `expected at most ${COLUMNS_MAX} columns`;
    throw invalidFields([{ path: `csv line ${line}`, message }]);
  }
  const columns = fields.map((field) => field.trim());
  const faults: FieldFault[] = [];
  const earlier = new Set<string>();
  if (!columns.includes(NUMBER_COLUMN)) {
    const message = `expected the names of the columns, with ${NUMBER_COLUMN} among them`;
    faults.push({ path: `csv line ${line}`, message });
  }
  for (const [index, column] of columns.entries()) {
    const path = `csv line ${line}, column ${index + 1}`;
    if (!VARIABLE_NAME.test(column)) {
      const message = "expected a letter and up to 39 letters, digits and underscores";
      faults.push({ path, message });
    } else if (earlier.has(column)) {
      faults.push({ path, message: "expected a name that no other column has" });
    }
    earlier.add(column);
  }
  if (faults.length > 0) throw invalidFields(faults.slice(0, ROW_FAULTS_NAMED_MAX));
  return columns;
}

class RowReader {
  readonly #windows: readonly CallWindow[];
  readonly #nowMs: number;
  readonly #rows: NewCallListRow[] = [];
  readonly #faults: FieldFault[] = [];
  #faultCount = 0;
  /** Where each number is. */
  readonly #places = new Map<string, string>();
  /** By the name in lower case: the zones that rows name. */
  readonly #zones = new Map<string, string>();
  /** By zones: whether the windows are ever open in all of them. */
  readonly #opens = new Map<string, boolean>();

  constructor(windows: readonly CallWindow[], nowMs: number) {
    this.#windows = windows;
    this.#nowMs = nowMs;
  }

  add(fault: FieldFault): void {
    this.#faultCount += 1;
    if (this.#faults.length < ROW_FAULTS_NAMED_MAX) this.#faults.push(fault);
  }

  read({ to, timeZone, variables = {}, pathOf }: PlacedRow): void {
    const before = this.#faultCount;
    const fault = (field: string, message: string) => this.add({ path: pathOf(field), message });
    const refusal = E164.test(to) ? numberRefusal(to) : undefined;
    const earlier = this.#places.get(to);
    if (!E164.test(to)) fault(NUMBER_COLUMN, "expected an E.164 number such as +15550100");
    else if (refusal !== undefined) {
      fault(
        NUMBER_COLUMN,
        `expected a number that may be called; agents cannot call ${refusal} numbers`,
      );
    } else if (earlier !== undefined) {
      fault(NUMBER_COLUMN, `expected each number once; it is at ${earlier} already`);
    }
    this.#places.set(to, earlier ?? pathOf(NUMBER_COLUMN));
    const named = timeZone === undefined ? undefined : this.#zoneOf(timeZone, fault);
    const names = Object.entries(variables);
    if (names.length > VARIABLES_MAX) fault("variables", `expected at most ${VARIABLES_MAX}`);
    for (const [name, value] of names) {
      if (value.length <= VARIABLE_CHARACTERS_MAX) continue;
      fault(name, `expected text of at most ${VARIABLE_CHARACTERS_MAX} characters`);
    }
    if (this.#faultCount > before) return;
    const zones = named ?? zonesOfNumber(to);
    if (zones === undefined) {
      const message = "expected the number of a country; for any other one, name its timeZone";
      fault(NUMBER_COLUMN, message);
    } else if (!this.#mayOpen(zones)) {
      const message =
        "expected a timeZone: the windows have no time that is within them in all time zones of the number";
      fault(NUMBER_COLUMN, message);
    } else {
      const lines = names.map(([name, value]) => [name, oneLine(value)]);
      this.#rows.push({ number: to, timeZones: zones, variables: Object.fromEntries(lines) });
    }
  }

  finish(path: string): readonly NewCallListRow[] {
    const more = this.#faultCount - this.#faults.length;
    const rest = more === 0 ? [] : [{ path, message: `${more} more faults` }];
    if (this.#faultCount > 0) throw invalidFields([...this.#faults, ...rest]);
    if (this.#rows.length > 0) return this.#rows;
    throw invalidFields([{ path, message: "expected at least one person to call" }]);
  }

  /** Undefined, with a fault, if it is none. */
  #zoneOf(timeZone: string, fault: (field: string, message: string) => void): string | undefined {
    const name = timeZone.toLowerCase();
    const known = this.#zones.get(name);
    if (known !== undefined) return known;
    const zone = this.#zones.size < TIME_ZONES_MAX ? timeZoneOf(timeZone) : undefined;
    if (zone !== undefined) this.#zones.set(name, zone);
    else if (this.#zones.size < TIME_ZONES_MAX) {
      fault(ZONE_COLUMN, "expected a time zone such as Europe/Berlin");
    } else {
      fault(ZONE_COLUMN, `expected at most ${TIME_ZONES_MAX} different time zones in a list`);
    }
    return zone;
  }

  #mayOpen(zones: string): boolean {
    const known = this.#opens.get(zones);
    if (known !== undefined) return known;
    const opens = nextOpening(this.#windows, zones, this.#nowMs) !== undefined;
    this.#opens.set(zones, opens);
    return opens;
  }
}
