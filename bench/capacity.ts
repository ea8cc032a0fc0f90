import { type LoadCallers, webCallers } from "./load/call-load.js";
import { type Capacity, CapacitySearch, LATENCY_P99_MAX_MS } from "./load/capacity-search.js";
import { PHONE_SOUND, phrases, WEB_SOUND } from "./load/phrases.js";
import { thisMachine } from "./machine.js";
import { PhoneJitter } from "./phone/phone-jitter.js";
import { callersOfServer } from "./phone/phone-stand.js";
import { pinThisProcess } from "./stand/child-process.js";
import { type PreparedVoice, startPreparedVendors } from "./stand/prepared-vendors.js";
import { type ServerStand, startServerStand } from "./stand/stand.js";

/** `npm run bench:capacity -- [most calls]`: how many calls this server carries, and the setting that keeps it there. */
const CALLS_MAX = Number(process.argv[2] ?? 300);
const SEARCH_MAX_MS = 75_000;
/** Turns of one step, and their interruptions: see CapacitySearch. */
const PHRASES_PER_CALL = 1.5;
/** A server is not to be run at the edge of what it carries. */
const SAFE_SHARE = 0.8;

interface Kind {
  readonly name: "web" | "phone";
  readonly sound: typeof WEB_SOUND;
  readonly voice: PreparedVoice;
  readonly callers: (server: ServerStand) => Promise<LoadCallers> | LoadCallers;
}

const KINDS: readonly Kind[] = [
  { name: "web", sound: WEB_SOUND, voice: "webMp3", callers: webCallers },
  {
    name: "phone",
    sound: PHONE_SOUND,
    voice: "elevenlabs",
    callers: (server) => callersOfServer(server, "elevenlabs", new PhoneJitter()),
  },
];

async function capacityOf(kind: Kind): Promise<Capacity> {
  const { sound, voice } = kind;
  const spoken = phrases(CALLS_MAX * PHRASES_PER_CALL, sound);
  const vendors = await startPreparedVendors(spoken, [voice]);
  // Phrases are said more than once, and every time the voice is to be asked for them.
  const server = await startServerStand(vendors, [], { SPEECH_CACHE_MB: "0" });
  try {
    const search = new CapacitySearch(server, vendors, await kind.callers(server), spoken);
    return await search.run(CALLS_MAX, SEARCH_MAX_MS);
  } finally {
    await server.close();
    await vendors.process.stop();
  }
}

function describe(name: string, { steps, calls, isLowerBound }: Capacity): string {
  const rows = steps.map(
    (step) =>
      `  ${String(step.calls).padStart(4)} calls: p99 ${step.latencyP99Ms.toFixed(1)} ms, server ${percent(step.cpuShare)} of a core, callers and vendors ${percent(step.loadShare)}, callers ${step.ownDelayMs.toFixed(1)} ms late: ${step.isGood ? "good" : "too much"}`,
  );
  const why = isLowerBound
    ? "at least: the callers and vendors, who share this server, or the time gave out before the server did"
    : "the next step was too much for the server";
  return [`${name}: ${calls} calls (${why})`, ...rows].join("\n");
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

pinThisProcess();
for (const [fact, value] of Object.entries(thisMachine())) console.log(`${fact}: ${value}`);
console.log(`added latency p99 up to ${LATENCY_P99_MAX_MS} ms counts as good\n`);
const found = new Map<string, number>();
for (const kind of KINDS) {
  const capacity = await capacityOf(kind);
  found.set(kind.name, capacity.calls);
  console.log(`${describe(kind.name, capacity)}\n`);
}
for (const [name, calls] of found) {
  console.log(`# for ${name} calls alone\nCALLS_MAX=${Math.floor(calls * SAFE_SHARE)}`);
}
console.log("# for both kinds: the smaller number");
