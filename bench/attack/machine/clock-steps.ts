import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import { Caller } from "../../../engine/sandbox/caller.js";
import type { Attack } from "../attack.js";
import type { AttackStand } from "../attack-stand.js";
import type { AttackedServer } from "../attacked-server.js";
import type { Findings } from "../findings.js";
import { STEPPED } from "./stepped-clock.js";

const HOUR_MS = 3_600_000;
const YEAR_MS = 8_766 * HOUR_MS;
const STEPS_MS = [26 * HOUR_MS, -26 * HOUR_MS, 10 * YEAR_MS, -20 * YEAR_MS, 10 * YEAR_MS, -30_000];
const TALK_MS = 2_000;
/** Rounding, and what a busy machine takes to connect and to hang up. */
const SLACK_SEC = 4;
const STORED_MAX_MS = 10_000;
const STOOD_STILL_MS = 3_000;
const MOVED_SLACK_MS = 20_000;
const CreatedKey = v.object({ id: v.string(), createdAt: v.string() });
const Ended = v.object({
  status: v.string(),
  durationSec: v.number(),
  startedAt: v.string(),
  endedAt: v.string(),
});

export const CLOCK_STEPS: Attack = {
  name: "clock-steps",
  promise:
    "calls are billed as long as they lasted, however the server's clock is set meanwhile, and no step stops calls or requests",
  weight: 3,
  sampleMs: 12_000,
  async run(stand, findings) {
    const folder = await mkdtemp(join(tmpdir(), "parley-clock-"));
    stand.after(() => rm(folder, { recursive: true }));
    const offsetFile = join(folder, "offset");
    const server = await stand.server({
      nodeFlags: ["--import", new URL("stepped-clock.js", import.meta.url).href],
      environment: { CLOCK_OFFSET_FILE: offsetFile },
    });
    let offsetMs = 0;
    for (const stepMs of stand.isSample ? STEPS_MS.slice(0, 2) : STEPS_MS) {
      offsetMs += stepMs;
      const setClock = async () => {
        writeFileSync(offsetFile, String(offsetMs));
        const isSet = server.says(STEPPED);
        server.process.signal("SIGUSR2");
        await isSet;
        await requireMoved(server, offsetMs);
      };
      await callOverStep(stand, server, setClock, findings, `a step of ${stepMs / HOUR_MS} h`);
    }
    const standStill = async () => {
      server.process.signal("SIGSTOP");
      await sleep(STOOD_STILL_MS);
      server.process.signal("SIGCONT");
    };
    await callOverStep(stand, server, standStill, findings, "a server that stood still");
  },
};

/** The rig itself is judged: a clock that stands still proves nothing. */
async function requireMoved(server: AttackedServer, offsetMs: number): Promise<void> {
  const body = { name: "Of another time" };
  const key = await server.read(CreatedKey, "POST", "/api/dashboard/api-keys", { body });
  const shiftMs = Date.parse(key.createdAt) - Date.now();
  if (Math.abs(shiftMs - offsetMs) > MOVED_SLACK_MS) throw new Error("the clock was not moved");
  await server.ask("DELETE", `/api/dashboard/api-keys/${key.id}`);
}

async function callOverStep(
  stand: AttackStand,
  server: AttackedServer,
  step: () => Promise<void>,
  findings: Findings,
  name: string,
): Promise<void> {
  const { url, apiKey } = server;
  const known = new Set((await server.calls()).items.map(({ _id: id }) => id));
  const beganMs = performance.now();
  const caller = await Caller.connect({ url, apiKey, keepsAudio: false });
  await sleep(TALK_MS / 2);
  await step();
  await findings.requireOf(
    caller
      .say("say ok")
      .then(() => caller.until(({ type }) => type === "audioEnd"))
      .then(() => true),
    `${name}: the call did not go on`,
  );
  await sleep(TALK_MS / 2);
  await caller.hangUp();
  const lastedSec = (performance.now() - beganMs) / 1_000;
  const isStored = async () => (await server.activeCount()) === 0;
  findings.demand(await stand.comesTrue(isStored, STORED_MAX_MS), `${name}: the call stays active`);
  const found = (await server.calls()).items.find(({ _id: id }) => !known.has(id));
  const path = `/api/dashboard/calls/${found?._id ?? "none"}`;
  const call = await server.read(Ended, "GET", path);
  const isFair = Math.abs(call.durationSec - lastedSec) < SLACK_SEC;
  findings.demand(isFair, `${name}: billed ${call.durationSec} s for ${lastedSec.toFixed(1)} s`);
  const spanSec = (Date.parse(call.endedAt) - Date.parse(call.startedAt)) / 1_000;
  findings.demand(
    Math.abs(spanSec - call.durationSec) <= 1,
    `${name}: the record's times and its duration do not fit`,
  );
}
