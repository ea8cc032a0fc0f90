import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import { Caller } from "../../../engine/sandbox/caller.js";
import type { AttackStand } from "../attack-stand.js";
import type { AttackedServer } from "../attacked-server.js";
import type { Findings } from "../findings.js";

/** What makes a store refuse, for how long, and what mends it. */
export interface Breakage {
  breakStore(): Promise<void>;
  mendStore(): Promise<void>;
  readonly holdMs: number;
}

const CALLERS = 4;
/** The first write that is refused, and the notice that is taken of it. */
const NOTICED_MAX_MS = 20_000;
const MENDED_MAX_MS = 20_000;
/** Far below what a reader waits who stands behind a lock. */
const READ_MAX_MS = 2_000;
const WORDS = { before: "say before", during: "say during" };
const StoredCall = v.object({
  status: v.string(),
  transcript: v.array(v.object({ role: v.string(), text: v.string() })),
});

/** Callers talk while the store takes nothing and hang up; their calls must be stored whole when it does again. */
export async function talkThrough(
  stand: AttackStand,
  findings: Findings,
  server: AttackedServer,
  breakage: Breakage,
): Promise<void> {
  const { url, apiKey } = server;
  const connect = () => Caller.connect({ url, apiKey, keepsAudio: false });
  const callers = await Promise.all(Array.from({ length: CALLERS }, connect));
  await sayToAll(callers, WORDS.before);
  await breakage.breakStore();
  const brokenAtMs = performance.now();
  const during = sayToAll(callers, WORDS.during);
  await findings.requireOf(
    during.then(() => true),
    "a call did not go on while nothing could be stored",
  );
  await Promise.all(callers.map((caller) => caller.hangUp()));
  const isNoticed = await stand.comesTrue(async () => !(await isReady(server)), NOTICED_MAX_MS);
  findings.demand(isNoticed, "the server said that it is ready while nothing could be stored");
  await requireRefusals(findings, server);
  await sleep(Math.max(0, brokenAtMs + breakage.holdMs - performance.now()));
  await breakage.mendStore();
  const isMended = await stand.comesTrue(() => isReady(server), MENDED_MAX_MS);
  findings.demand(isMended, "the server did not get ready again");
  const areStored = await stand.comesTrue(
    async () => (await server.activeCount()) === 0,
    MENDED_MAX_MS,
  );
  findings.demand(areStored, "a call that had ended stayed active");
  await requireWholeCalls(findings, server);
  await findings.requireOf(connect().then(hungUp), "no call was taken afterwards");
}

async function sayToAll(callers: readonly Caller[], words: string): Promise<void> {
  await Promise.all(
    callers.map(async (caller) => {
      await caller.say(words);
      await caller.until(({ type }) => type === "audioEnd");
    }),
  );
}

async function isReady(server: AttackedServer): Promise<boolean> {
  return (await server.ask("GET", "/api/ready")).status === 200;
}

async function hungUp(caller: Caller): Promise<boolean> {
  await caller.hangUp();
  return true;
}

async function requireRefusals(findings: Findings, server: AttackedServer): Promise<void> {
  const { url, apiKey } = server;
  const refused = await Caller.dial({ url, apiKey }).until(
    ({ type }) => type === "closed" || type === "connected",
  );
  findings.demand(
    refused.type === "closed" && refused.code === 4029,
    "a new call was not refused with 4029",
  );
  const writing = server.ask("POST", "/api/dashboard/api-keys", { body: { name: "Another" } });
  const beganMs = performance.now();
  const { status } = await server.ask("GET", "/api/dashboard/calls");
  const tookMs = performance.now() - beganMs;
  findings.demand(status === 200 && tookMs < READ_MAX_MS, "a reader waited, or was refused");
  const written = await writing;
  findings.demand(
    written.status === 503 && written.headers.has("retry-after"),
    `a write was answered ${written.status}, not 503 with Retry-After`,
  );
}

async function requireWholeCalls(findings: Findings, server: AttackedServer): Promise<void> {
  const { items } = await server.calls("&status=completed");
  findings.demand(items.length === CALLERS, "a call was not stored as completed");
  for (const { _id: id } of items) {
    const call = await server.read(StoredCall, "GET", `/api/dashboard/calls/${id}`);
    const said = call.transcript.filter(({ role }) => role === "user").map(({ text }) => text);
    findings.demand(
      said.join() === [WORDS.before, WORDS.during].join(),
      "a turn of a call was lost",
    );
  }
}
