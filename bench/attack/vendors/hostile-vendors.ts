import type { Attack } from "../attack.js";
import type { AttackStand } from "../attack-stand.js";
import type { AttackedServer } from "../attacked-server.js";
import type { Findings } from "../findings.js";
import { hostileAgent, spoil } from "./hostile-agent.js";
import { callHostile, type Fate, type ReplyTimeout } from "./hostile-call.js";
import { HOSTILE_LANES, type HostileLane } from "./hostile-lanes.js";

const STORED_MAX_MS = 15_000;
/** Faults that are quickly over, for a sample. */
const QUICK = new Set([
  "serverError",
  "disconnectMidStream",
  "garbageJson",
  "garbage",
  "doubleSpeechFinal",
]);
/**
 * A recognizer is known to be deaf by the voice that it has not understood, and to have missed the end of a turn by a silence
 * of 6.5 s after its last words. The tone code says twelve words in the time that a person needs for six.
 */
const TALKATIVE: ReplyTimeout = {
  words: "say one two three four five six seven eight nine ten eleven",
  pauseMs: 7_000,
};
const SAMPLE_FAULTS = 1;

export const HOSTILE_VENDORS: Attack = {
  name: "hostile-vendors",
  promise:
    "under every fault of every vendor, from the start or in mid-call, a caller is answered, told or closed within 75 s, and a healthy vendor is used again",
  weight: 40,
  sampleMs: 10_000,
  async run(stand, findings) {
    const server = await stand.server();
    const fates = new Map<Fate, number>();
    const lanes = HOSTILE_LANES.map((lane) => attackLane(stand, server, lane, findings, fates));
    await Promise.all(lanes);
    const areStored = stand.comesTrue(
      async () => (await server.activeCount()) === 0,
      STORED_MAX_MS,
    );
    findings.demand(await areStored, "a call stayed active");
    findings.tell([...fates].map(([fate, count]) => `${count} ${fate}`).join(", "));
  },
};

async function attackLane(
  stand: AttackStand,
  server: AttackedServer,
  lane: HostileLane,
  findings: Findings,
  fates: Map<Fate, number>,
): Promise<void> {
  const sandbox = await stand.sandbox();
  const agentId = await hostileAgent(server, lane, sandbox.urls[lane.url]);
  const name = `${lane.category} ${lane.providerKey} ${lane.modelId}`;
  const timeouts = lane.category === "stt" ? TALKATIVE : undefined;
  const judge = (fate: Fate, fault: string) => {
    fates.set(fate, (fates.get(fate) ?? 0) + 1);
    findings.demand(fate !== "nothing", `${name}, ${fault}: the caller heard nothing`);
  };
  for (const fault of faultsOf(stand, lane)) {
    await spoil(sandbox, lane, fault);
    judge(await callHostile(server, agentId, timeouts), fault);
    await spoil(sandbox, lane, undefined);
    const inMidCall = () => spoil(sandbox, lane, fault);
    judge(await callHostile(server, agentId, timeouts, inMidCall), `${fault} in mid-call`);
    await spoil(sandbox, lane, undefined);
    if (!stand.hasTime() && !stand.isSample) {
      findings.skip(`${name}: what comes after ${fault}, since the time was over`);
      break;
    }
  }
  const fate = await callHostile(server, agentId, timeouts);
  findings.demand(fate === "answered", `${name}: healthy again, and a caller was ${fate}`);
}

/** In an order of chance, so that a short run tries others than the one before. */
function faultsOf({ isSample, random }: AttackStand, { faults }: HostileLane): readonly string[] {
  const order = faults.map((fault) => ({ fault, at: random.fraction() }));
  const shuffled = order.toSorted((one, other) => one.at - other.at).map(({ fault }) => fault);
  return isSample ? shuffled.filter((fault) => QUICK.has(fault)).slice(0, SAMPLE_FAULTS) : shuffled;
}
