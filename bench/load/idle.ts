import { PhoneCaller } from "../../engine/sandbox/telephone/phone-caller.js";
import { createAgent } from "../phone/phone-stand.js";
import type { Scenario, ScenarioResult } from "../scenarios.js";
import { threadsOf, usedSince } from "../stand/process-usage.js";
import { type ServerStand, startServerStand, startVendors } from "../stand/stand.js";

const MEASURE_MS = 10_000;
/** After a start or a call: first writes, closing connections, compiled code. */
const SETTLE_MS = 10_000;
const HEARD_TIMEOUT_MS = 10_000;

/** A server that nobody calls, before its first call and after one on the telephone, which starts the audio pool. */
export class IdleScenario implements Scenario {
  readonly name = "idle";

  async run(): Promise<ScenarioResult> {
    const vendors = await startVendors();
    try {
      const server = await startServerStand(vendors, [], { EVENT_LOOP_DELAY_MAX_MS: "100" });
      try {
        const before = await wakeUpsPerSecond(server.process.pid);
        await oneTelephoneCall(server);
        const after = await wakeUpsPerSecond(server.process.pid);
        return {
          measurements: [
            { name: "idleWakeUps", measured: total(before) },
            { name: "idleWakeUpsAfterCall", measured: total(after) },
          ],
          details: [`before: ${describe(before)}`, `after: ${describe(after)}`],
        };
      } finally {
        await server.close();
      }
    } finally {
      await vendors.process.stop();
    }
  }
}

/** The wake-ups a second of each thread of the process. */
async function wakeUpsPerSecond(pid: number): Promise<readonly number[]> {
  await pause(SETTLE_MS);
  const before = threadsOf(pid);
  await pause(MEASURE_MS);
  const used = usedSince(before, threadsOf(pid));
  return used.map(({ wakes }) => (wakes * 1_000) / MEASURE_MS);
}

async function oneTelephoneCall(server: ServerStand): Promise<void> {
  const agent_id = await createAgent(server, "openaiSpeech");
  const query = new URLSearchParams({ api_key: server.apiKey, agent_id });
  const webhookUrl = `${server.url}/api/telephony/voice?${query.toString()}`;
  const caller = await PhoneCaller.call({ webhookUrl, keepsAudio: false });
  await caller.until(({ type }) => type === "audio", HEARD_TIMEOUT_MS);
  await caller.hangUp();
}

function total(threads: readonly number[]): number {
  return threads.reduce((sum, one) => sum + one, 0);
}

function describe(threads: readonly number[]): string {
  const awake = threads.filter((one) => one > 0).map((one) => one.toFixed(1));
  return `${threads.length} threads, of which these wake up so often in a second: ${awake.join(", ")}`;
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}
