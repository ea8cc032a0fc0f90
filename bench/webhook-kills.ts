import { parseArgs } from "node:util";
import { runWebhookKills } from "./kills/webhook-kills.js";
import { thisMachine } from "./machine.js";

/**
 * `node dist/bench/webhook-kills.js [--database sqlite|postgresql] [--calls 10000] [--kills 40] [--callers 60] [--seed 1]`: calls that
 * come and end in every way while servers are killed. Fails where an endpoint did not get one terminal event for each call.
 */
const { values } = parseArgs({
  options: {
    database: { type: "string", default: "sqlite" },
    calls: { type: "string", default: "10000" },
    kills: { type: "string", default: "40" },
    callers: { type: "string", default: "60" },
    seed: { type: "string", default: "1" },
  },
});
const FAULTS_SHOWN = 20;
const { database } = values;
const [calls, kills, callers, seed] = [values.calls, values.kills, values.callers, values.seed].map(
  Number,
);
const isNumber = (value: number | undefined): value is number =>
  value !== undefined && Number.isSafeInteger(value) && value > 0;
if (
  (database !== "sqlite" && database !== "postgresql") ||
  !isNumber(calls) ||
  !isNumber(kills) ||
  !isNumber(callers) ||
  !isNumber(seed)
) {
  console.error("expected --database sqlite or postgresql, and whole numbers from 1");
  process.exit(1);
}

const result = await runWebhookKills({ database, calls, kills, callers, seed });
const { faults, records, refused, unanswered, events, requests } = result;
const { toldBusy, toldBusyWithEvent, calledForMs, restAfterMs } = result;
const machine = thisMachine();
console.log(`${machine.cpu}, Node ${machine.node}, ${new Date().toISOString()}, seed ${seed}`);
console.log(
  `${database}: ${calls} calls in ${(calledForMs / 1_000).toFixed(0)} s, ${kills} kills; ${records} records, ${refused} refused, ${unanswered} not answered`,
);
console.log(`${toldBusy} told to call again later, ${toldBusyWithEvent} of them with an event`);
console.log(
  `${events} events acknowledged, the last ${(restAfterMs / 1_000).toFixed(0)} s after the calls`,
);
for (const [conduct, count] of requests) console.log(`  ${conduct}: ${count} requests`);
for (const fault of faults.slice(0, FAULTS_SHOWN)) console.log(`WRONG: ${fault}`);
console.log(
  faults.length === 0
    ? "every call has one terminal event at every endpoint"
    : `${faults.length} faults`,
);
process.exit(faults.length === 0 ? 0 : 1);
