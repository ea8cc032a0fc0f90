import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import { DATABASE_FILE } from "../../../config.js";
import { Caller } from "../../../engine/sandbox/caller.js";
import { checkDatabase } from "../../../storage/sqlite/database-check.js";
import type { Attack } from "../attack.js";
import type { AttackStand } from "../attack-stand.js";
import type { AttackedServer } from "../attacked-server.js";
import type { Findings } from "../findings.js";
import { requireSlots } from "../free-slots.js";

const CALLS_A_ROUND = 12;
const ROUND_MAX_MS = 12_000;
const KILL_AFTER_MS = { min: 300, max: 3_500 };
const ENDED_MAX_MS = 20_000;
const NOTE_EVERY_MS = 100;
const STORED_MAX_MS = 10_000;
const SAMPLE_ROUNDS = 1;

const Named = v.object({ name: v.string() });
const StoredCall = v.object({
  status: v.string(),
  transcript: v.array(v.object({ role: v.string(), text: v.string() })),
});

/** What clients were told before the kill, and may rely on after it. */
interface Told {
  /** Ended calls by id, as they were shown. */
  readonly ended: Map<string, string>;
  agentName: string;
}

export const KILL_ROUNDS: Attack = {
  name: "kill-rounds",
  promise:
    "after kill -9 under calls nothing that was finished is lost, no call stays active, every slot is free, the file is whole",
  weight: 14,
  sampleMs: 6_000,
  async run(stand, findings) {
    const server = await stand.server();
    const told: Told = { ended: new Map(), agentName: "0" };
    let rounds = 0;
    let callCount = 0;
    do {
      callCount += await killUnderCalls(stand, server, told);
      await server.start();
      await requireAll(server, told, findings);
      rounds += 1;
    } while (stand.isSample ? rounds < SAMPLE_ROUNDS : stand.hasTime(ROUND_MAX_MS));
    await requireSlots(server, CALLS_A_ROUND, findings);
    const areStored = stand.comesTrue(
      async () => (await server.activeCount()) === 0,
      STORED_MAX_MS,
    );
    findings.demand(await areStored, "a call that was hung up stayed active");
    findings.tell(`${rounds} kills under ${callCount} calls, ${told.ended.size} of them ended`);
  },
};

/** Calls that end and calls that go on, writes that follow one another, and at a moment of chance the end of all. */
async function killUnderCalls(
  stand: AttackStand,
  server: AttackedServer,
  told: Told,
): Promise<number> {
  const { random } = stand;
  const endedBefore = told.ended.size;
  let callCount = 0;
  const talkOften = async (delayMs: number) => {
    await sleep(delayMs);
    for (;;) {
      callCount += 1;
      await talk(server);
    }
  };
  const rows = Array.from({ length: CALLS_A_ROUND }, () => talkOften(random.whole(0, 500)));
  const over = Promise.allSettled([...rows, renameOften(server, told), noteOften(server, told)]);
  // On a busy machine too there is something to be lost.
  if (stand.isSample || random.chance(0.5)) {
    await stand.comesTrue(() => told.ended.size > endedBefore, ENDED_MAX_MS);
  }
  await sleep(random.whole(KILL_AFTER_MS.min, KILL_AFTER_MS.max));
  await server.kill();
  // Every one of them goes on until the server is no more there.
  await over;
  return callCount;
}

async function talk({ url, apiKey }: AttackedServer): Promise<void> {
  const caller = await Caller.connect({ url, apiKey, keepsAudio: false });
  await caller.say("say ok");
  await caller.hangUp();
}

/** Each name that the server has accepted is one that it must know later, or a newer one. */
async function renameOften(server: AttackedServer, told: Told): Promise<never> {
  for (;;) {
    const name = String(Number(told.agentName) + 1);
    await server.read(Named, "PATCH", agentPath(server), { body: { name } });
    told.agentName = name;
  }
}

async function noteOften(server: AttackedServer, told: Told): Promise<never> {
  for (;;) {
    await noteEnded(server, told);
    await sleep(NOTE_EVERY_MS);
  }
}

function agentPath({ demo }: AttackedServer): string {
  return `/api/dashboard/agents/${demo.agentId ?? ""}`;
}

async function noteEnded(server: AttackedServer, { ended }: Told): Promise<void> {
  const { items } = await server.calls("&status=completed");
  for (const { _id: id } of items) {
    if (!ended.has(id)) ended.set(id, await shown(server, id));
  }
}

async function shown(server: AttackedServer, callId: string): Promise<string> {
  const call = await server.read(StoredCall, "GET", `/api/dashboard/calls/${callId}`);
  return JSON.stringify(call);
}

async function requireAll(server: AttackedServer, told: Told, findings: Findings): Promise<void> {
  findings.demand((await server.activeCount()) === 0, "a call stayed active after the restart");
  for (const [id, before] of told.ended) {
    await findings.requireOf(
      shown(server, id).then((now) => now === before),
      "a call that had ended was changed or lost",
    );
  }
  const { name } = await server.read(Named, "GET", agentPath(server));
  findings.demand(Number(name) >= Number(told.agentName), "an accepted write was lost");
  told.agentName = name;
  const { findings: damages } = checkDatabase(join(server.dataDir, DATABASE_FILE));
  findings.demand(damages.length === 0, `the database is damaged: ${damages.join(", ")}`);
}
