import { setTimeout as sleep } from "node:timers/promises";
import { phrasesNeeded, runCallLoad } from "./load/call-load.js";
import { phrases } from "./load/phrases.js";
import { pinThisProcess } from "./stand/child-process.js";
import { Inspector } from "./stand/inspector.js";
import { startPreparedVendors } from "./stand/prepared-vendors.js";
import { startServerStand } from "./stand/stand.js";

/** Where the server's time goes under the load of the gate: `node dist/bench/profile.js [functions]`. */
const FUNCTIONS = Number(process.argv[2] ?? 15);
const PLAN = {
  callers: 100,
  settleMs: 4_000,
  measureMs: 20_000,
  turnPeriodMs: 10_000,
  interruptEvery: 4,
};
/** The load's warm-up and ramp are over by then, and its end has not begun. */
const FROM_MS = 26_000;
const PROFILED_MS = 12_000;

pinThisProcess();
const said = phrases(phrasesNeeded(PLAN));
const vendors = await startPreparedVendors(said);
const server = await startServerStand(vendors);
const inspector = await Inspector.attach(server.process.inspectorUrl ?? "");
const load = runCallLoad(server, vendors, said, PLAN);
await sleep(FROM_MS);
await inspector.startProfile();
await sleep(PROFILED_MS);
for (const { name, place, share } of await inspector.hottest(FUNCTIONS)) {
  console.log(`${(share * 100).toFixed(1).padStart(5)} %  ${name} ${place}`);
}
inspector.close();
const { cpuMsPerCallSecond, turnCount, lostCount } = await load;
console.log(
  `${cpuMsPerCallSecond.toFixed(2)} ms a call-second with the profiler; ${turnCount} turns, ${lostCount} lost`,
);
await server.close();
await vendors.process.stop();
