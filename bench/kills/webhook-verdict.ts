import { type Acknowledged, CONDUCTS, type Conduct } from "./webhook-receivers.js";

/** What is known of the calls when all is over. */
export interface KnownCalls {
  readonly records: readonly { readonly id: string; readonly status: string }[];
  /** Ids that the server gave out for placed calls. */
  readonly placed: ReadonlySet<string>;
  /** Agents that do not exist, and numbers, each of one call that its caller knows was refused. */
  readonly refusedAgents: ReadonlySet<string>;
  readonly refusedNumbers: ReadonlySet<string>;
}

const TERMINAL_BY_STATUS: Readonly<Record<string, string>> = {
  completed: "call.ended",
  failed: "call.failed",
};
const TERMINALS: ReadonlySet<string> = new Set(Object.values(TERMINAL_BY_STATUS));

/** What was promised and is not so: each call has one terminal event at each endpoint, and its events came in their order. */
export function webhookFaults(
  known: KnownCalls,
  acknowledged: readonly Acknowledged[],
  endpoints: readonly Conduct[] = CONDUCTS,
): readonly string[] {
  const ids = new Set(known.records.map(({ id }) => id));
  const missing = [...known.placed].filter((id) => !ids.has(id));
  return [
    ...missing.map((id) => `the placed call ${id} has no record`),
    ...endpoints.flatMap((endpoint) => {
      const own = acknowledged.filter((event) => event.endpoint === endpoint);
      return faultsOf(known, own).map((fault) => `${endpoint}: ${fault}`);
    }),
  ];
}

function faultsOf(known: KnownCalls, acknowledged: readonly Acknowledged[]): readonly string[] {
  const faults: string[] = [];
  const terminals = new Map<string, Acknowledged[]>();
  const sequences = new Map<string, number>();
  for (const event of acknowledged) {
    const { callId, sequence, type } = event;
    const last = sequences.get(callId) ?? 0;
    if (sequence <= last)
      faults.push(`${type} of ${callId} has the place ${sequence} after ${last}`);
    sequences.set(callId, sequence);
    if (TERMINALS.has(type)) terminals.set(callId, [...(terminals.get(callId) ?? []), event]);
  }
  for (const { id, status } of known.records) {
    const types = (terminals.get(id) ?? []).map(({ type }) => type);
    if (types.length === 1 && types[0] === TERMINAL_BY_STATUS[status]) continue;
    faults.push(`the call ${id}, ${status}, has the terminal events [${types.join(", ")}]`);
  }
  const recorded = new Set(known.records.map(({ id }) => id));
  const refused = [...terminals].filter(([id]) => !recorded.has(id));
  for (const [id, events] of refused) {
    if (events.length === 1 && events[0]?.isRefused === true) continue;
    faults.push(
      `the call ${id} has no record and the terminal events [${events.map(({ type }) => type).join(", ")}]`,
    );
  }
  const once = (
    what: string,
    wanted: ReadonlySet<string>,
    of: (event: Acknowledged) => string | undefined,
  ) => {
    const counts = new Map<string, number>();
    for (const [, [event]] of refused) {
      const value = event && of(event);
      if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    for (const value of wanted) {
      const count = counts.get(value) ?? 0;
      if (count !== 1) faults.push(`the refused call ${what} ${value} has ${count} events`);
    }
  };
  once("to the agent", known.refusedAgents, ({ agentId }) => agentId);
  once("from", known.refusedNumbers, ({ from }) => from);
  for (const [id] of sequences) {
    if (!terminals.has(id) && !recorded.has(id))
      faults.push(`the call ${id} began and never ended`);
  }
  return faults;
}
