import { setImmediate as nextTurn } from "node:timers/promises";
import type {
  CallListOutcome,
  CallListRecord,
  CallListRowRecord,
  CallListRowState,
  CallWindow,
  RetryRules,
} from "../../../storage/calls/call-list-record.js";
import {
  type CountedCallList,
  NO_ROWS,
  type StateChange,
} from "../../../storage/calls/call-list-store.js";
import type { IdempotencyKey } from "../../../storage/calls/idempotency-store.js";
import type { Database } from "../../../storage/database.js";
import type { JsonObject } from "../../../storage/records.js";
import { RequestError } from "../../request-error.js";
import { type AuditedChange, actorOf, auditEntry } from "../../tenancy/audit-entry.js";
import type { Tenant } from "../../tenancy/tenant.js";
import type { Clock } from "../../time/clock.js";
import { callListRows, type GivenRow } from "./call-list-rows.js";

/** Older ones are deleted by people, who may want their results. */
export const CALL_LISTS_MAX = 50;
/** Rows read, and written, at a time for the file of results. */
const RESULTS_PER_PAGE = 500;
/** Behind them the file has the variables of the people. */
const RESULT_COLUMNS = [
  "position",
  "to",
  "state",
  "reason",
  "attempts",
  "lastCallId",
  "lastCalledAt",
] as const;
/** A spreadsheet takes what begins so for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

export interface NewCallList {
  readonly name: string;
  readonly agentId: string;
  /** The calling number, E.164. */
  readonly from: string;
  readonly vendor?: string | undefined;
  readonly detectMachine: boolean;
  readonly callsMax: number;
  readonly windows: readonly CallWindow[];
  readonly retries: RetryRules;
  readonly people: { readonly rows: readonly GivenRow[] } | { readonly csv: string };
}

/** The copy of a database does not know whom a list has called since it was made. */
export function pauseRestoredLists(
  callLists: Pick<Database["callLists"], "pauseAll">,
  clock: Clock,
): Promise<number> {
  const reason = "the database was restored from a copy, which does not know who was called since";
  return callLists.pauseAll({ code: "conflict", reason }, clock.epochMs());
}

const CHANGES = {
  start: { from: ["ready"], to: "running", isDue: true },
  pause: { from: ["running"], to: "paused" },
  resume: { from: ["paused"], to: "running", isDue: true, endsHold: true },
  cancel: { from: ["ready", "running", "paused"], to: "cancelled", cancelsRows: true, isDue: true },
} as const satisfies Readonly<Record<string, StateChange>>;

export type CallListAction = keyof typeof CHANGES;

export interface CallListsOptions {
  readonly database: Pick<Database, "callLists" | "agents">;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** Call lists of organizations: uploaded, started, paused, resumed, cancelled, and what became of them. */
export class CallLists {
  readonly #options: CallListsOptions;

  constructor(options: CallListsOptions) {
    this.#options = options;
  }

  /** Newest first. */
  list(orgId: string): Promise<readonly CountedCallList[]> {
    return this.#options.database.callLists.list(orgId);
  }

  /** RequestError `not_found`. */
  async get(orgId: string, id: string): Promise<CountedCallList> {
    const list = await this.#options.database.callLists.find(orgId, id);
    if (list === undefined) throw new RequestError("not_found", "there is no such call list");
    return list;
  }

  /** RequestError `not_found`. With how many people have each outcome. */
  async progress(
    orgId: string,
    id: string,
  ): Promise<CountedCallList & { readonly outcomes: readonly CallListOutcome[] }> {
    const list = await this.get(orgId, id);
    return { ...list, outcomes: await this.#options.database.callLists.outcomeCounts(orgId, id) };
  }

  /**
   * Stores the list with all of its rows, or nothing; it waits for its start. RequestErrors `invalid_request`: names rows and
   * their fields; `agent_not_found`; `limit_reached`. `keyed`: the key of the request, which is stored with the list, and the
   * answer to it; `UniqueViolationError` if another request has the key.
   */
  async create(
    tenant: Tenant,
    input: NewCallList,
    keyed?: {
      readonly key: IdempotencyKey;
      readonly answerOf: (list: CountedCallList) => JsonObject;
    },
  ): Promise<CountedCallList> {
    const { database, clock, newId } = this.#options;
    const { id: orgId } = tenant.organization;
    const { name, agentId, from, vendor, detectMachine, callsMax, windows, retries } = input;
    if ((await database.agents.findById(orgId, agentId)) === undefined) {
      throw new RequestError("agent_not_found", "agentId: there is no such agent");
    }
    const nowMs = clock.epochMs();
    const rows = await callListRows(input.people, windows, nowMs);
    const list: CallListRecord = {
      id: newId(),
      orgId,
      name,
      agentId,
      fromNumber: from,
      vendor: vendor ?? null,
      detectMachine,
      callsMax,
      windows,
      retries,
      state: "ready",
      holdCode: null,
      holdReason: null,
      heldSinceMs: null,
      heldUntilMs: 0,
      vendorRefusals: 0,
      nextCallAtMs: null,
      failuresInRow: 0,
      apiKeyId: tenant.apiKeyId ?? null,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    const entry = this.#entry(tenant, list, "callList.create");
    const created = { ...list, counts: { ...NO_ROWS, waiting: rows.length } };
    const made = keyed && {
      key: keyed.key,
      made: { subjectId: list.id, answer: keyed.answerOf(created), pendingUntilMs: 0 },
    };
    if (!(await database.callLists.insertWithin(list, rows, CALL_LISTS_MAX, entry, made))) {
      const message = `an organization can have ${CALL_LISTS_MAX} call lists: delete one that is over`;
      throw new RequestError("limit_reached", message);
    }
    return created;
  }

  /** RequestErrors `not_found`; `conflict`: the list is in another state. To resume a list that is held ends its hold. */
  async change(tenant: Tenant, id: string, action: CallListAction): Promise<CountedCallList> {
    const { callLists } = this.#options.database;
    const { id: orgId } = tenant.organization;
    const list = await this.get(orgId, id);
    const entry = this.#entry(tenant, list, `callList.${action}`);
    if (await callLists.change(list, CHANGES[action], entry)) return this.get(orgId, id);
    const { state } = await this.get(orgId, id);
    const expected = CHANGES[action].from.join(" or ");
    const message = `the list is ${state}; to ${action} it, it has to be ${expected}`;
    throw new RequestError("conflict", message);
  }

  /** RequestErrors `not_found`; `conflict`: it places calls, or may. */
  async remove(tenant: Tenant, id: string): Promise<void> {
    const { id: orgId } = tenant.organization;
    const list = await this.get(orgId, id);
    const entry = this.#entry(tenant, list, "callList.delete");
    if (await this.#options.database.callLists.remove(orgId, id, entry)) return;
    throw new RequestError("conflict", "the list is in progress: cancel it, and let its calls end");
  }

  /** RequestError `not_found`. The people behind the position `after`. */
  async rows(
    orgId: string,
    id: string,
    page: {
      readonly state?: CallListRowState | undefined;
      readonly after: number;
      readonly limit: number;
    },
  ): Promise<{ readonly rows: readonly CallListRowRecord[]; readonly next: number | undefined }> {
    await this.get(orgId, id);
    const { callLists } = this.#options.database;
    const found = await callLists.rows(orgId, id, { ...page, limit: page.limit + 1 });
    const rows = found.slice(0, page.limit);
    return { rows, next: found.length > page.limit ? rows.at(-1)?.position : undefined };
  }

  /** What became of each person, as CSV. RequestError `not_found`. */
  async results(orgId: string, id: string): Promise<Buffer> {
    const rows: CallListRowRecord[] = [];
    let after: number | undefined = 0;
    while (after !== undefined) {
      const page = await this.rows(orgId, id, { after, limit: RESULTS_PER_PAGE });
      rows.push(...page.rows);
      after = page.next;
    }
    const names = [...new Set(rows.flatMap(({ variables }) => Object.keys(variables)))];
    const parts = [`${[...RESULT_COLUMNS, ...names].join(",")}\r\n`];
    for (let from = 0; from < rows.length; from += RESULTS_PER_PAGE) {
      const some = rows.slice(from, from + RESULTS_PER_PAGE);
      parts.push(some.map((row) => resultLine(row, names)).join(""));
      await nextTurn();
    }
    return Buffer.from(parts.join(""));
  }

  #entry(
    tenant: Tenant,
    { id, orgId, name }: CallListRecord,
    action: AuditedChange<"callList">["action"],
  ) {
    const { clock, newId } = this.#options;
    const target = { type: "callList", id, orgId, name } as const;
    const actor = actorOf(tenant);
    return auditEntry({ id: newId(), atMs: clock.epochMs(), actor, action, target, changes: [] });
  }
}

function resultLine(row: CallListRowRecord, names: readonly string[]): string {
  const { position, number, state, reason, attempts, callId, calledAtMs, variables } = row;
  const at = calledAtMs === null ? "" : new Date(calledAtMs).toISOString();
  const fields = [position, inert(number), state, quoted(reason ?? ""), attempts, callId ?? "", at];
  const values = names.map((name) => quoted(inert(variables[name] ?? "")));
  return `${[...fields, ...values].join(",")}\r\n`;
}

function inert(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
