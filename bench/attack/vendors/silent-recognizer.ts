import { setTimeout as sleep } from "node:timers/promises";
import { Caller } from "../../../engine/sandbox/caller.js";
import type { Received } from "../../../engine/sandbox/caller-events.js";
import { bytesOf } from "../../../engine/sandbox/telephone/telephone-audio.js";
import { encodeSpeech } from "../../../engine/sandbox/telephone/tone-code.js";
import type { Attack } from "../attack.js";
import type { AttackedServer } from "../attacked-server.js";
import type { Findings } from "../findings.js";
import { hostileAgent, spoil } from "./hostile-agent.js";
import { talkUntil } from "./hostile-call.js";
import { HOSTILE_LANES } from "./hostile-lanes.js";
import { MUTE_WAYS, startMuteRecognizer } from "./mute-recognizer.js";

/** The watch asks for three seconds of voice, and twice for as much on new connections. */
const NOTICED_MAX_MS = 60_000;
const BREATH_MS = 100;
/** A caller who says one word and waits counts tries, not seconds of voice. */
const TOLD_MAX_MS = 20_000;
const WAITS_MS = [3_000, 6_000];
/** As long as people take to say it. */
const HELLO = Buffer.from(bytesOf(encodeSpeech("Hello?", 16_000, 0.5)));
const LONG_WORDS = "say a long sentence that nobody hears although it goes on and on";

export const SILENT_RECOGNIZER: Attack = {
  name: "silent-recognizer",
  promise:
    "a caller who talks to a recognizer that tells no words is told so and the call ended within 60 s; one who says a word and waits is told within 20 s",
  weight: 3,
  sampleMs: undefined,
  async run(stand, findings) {
    const server = await stand.server();
    const recognizers = HOSTILE_LANES.filter(({ category }) => category === "stt");
    const silent = recognizers.map(async (lane) => {
      const sandbox = await stand.sandbox();
      const agentId = await hostileAgent(server, lane, sandbox.urls[lane.url]);
      const goSilent = () => spoil(sandbox, lane, "silent");
      await talkInVain(server, agentId, findings, `${lane.modelId} goes silent`, goSilent);
    });
    const waiting = recognizers.flatMap((lane) =>
      WAITS_MS.map(async (waitMs) => {
        const sandbox = await stand.sandbox();
        const agentId = await hostileAgent(server, lane, sandbox.urls[lane.url]);
        const name = `${lane.modelId} goes silent to who waits ${waitMs / 1_000} s`;
        await askAndWait(server, agentId, findings, { name, waitMs }, () =>
          spoil(sandbox, lane, "silent"),
        );
      }),
    );
    const [nova] = recognizers;
    const mute = MUTE_WAYS.map(async (way) => {
      if (nova === undefined) return;
      const recognizer = await startMuteRecognizer(way);
      stand.after(() => recognizer.close());
      const agentId = await hostileAgent(server, nova, recognizer.url);
      await talkInVain(server, agentId, findings, `a recognizer ${way}`);
    });
    await Promise.all([...silent, ...waiting, ...mute]);
  },
};

/** Talks without a pause that anybody could wait for. */
async function talkInVain(
  { url, apiKey }: AttackedServer,
  agentId: string,
  findings: Findings,
  name: string,
  goSilent: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const caller = await Caller.connect({ url, apiKey, agentId, keepsAudio: false });
  await goSilent();
  const began = performance.now();
  const closed = caller
    .until(({ type }) => type === "closed", NOTICED_MAX_MS)
    .then(
      () => true,
      () => false,
    );
  await talkUntil(caller, LONG_WORDS, closed, BREATH_MS);
  findings.demand(await closed, `${name}: deaf, and nobody was told`);
  if (await closed) findings.tell(`${name}: ${Math.round((performance.now() - began) / 1_000)} s`);
  await caller.hangUp();
}

/** Says "Hello?" and waits, again and again, until the agent says something or the call is closed. */
async function askAndWait(
  { url, apiKey }: AttackedServer,
  agentId: string,
  findings: Findings,
  { name, waitMs }: { readonly name: string; readonly waitMs: number },
  goSilent: () => Promise<void>,
): Promise<void> {
  const caller = await Caller.connect({ url, apiKey, agentId, keepsAudio: false });
  await goSilent();
  const began = performance.now();
  const isTold = ({ type, atNs }: Received) =>
    atNs > beganNs && (type === "audio" || type === "error" || type === "closed");
  const beganNs = process.hrtime.bigint();
  const end = new AbortController();
  const told = caller
    .until(isTold, NOTICED_MAX_MS)
    .then(
      () => true,
      () => false,
    )
    .finally(() => end.abort());
  while (!end.signal.aborted) {
    await caller.play("Hello?", HELLO).catch(() => undefined);
    await Promise.race([told, sleep(waitMs)]);
  }
  const tookMs = performance.now() - began;
  findings.demand((await told) && tookMs <= TOLD_MAX_MS, `${name}: told after ${tookMs} ms`);
  findings.tell(`${name}: ${Math.round(tookMs / 1_000)} s`);
  await caller.hangUp();
}
