import assert from "node:assert/strict";
import { test } from "node:test";
import type { CancelTimer } from "../../engine/time/clock.js";
import { Changes } from "../doubles/changes.js";
import { PatientClock } from "../doubles/patient-clock.js";
import { closeOfPhone, heard, ring } from "./telephone-stand.js";
import { TestServer } from "./test-server.js";

const GREETING = "Hello! How can I help you today?";
/** The same as in api/cluster/worker-server.ts. */
const LAST_WORDS_MS = 2_000;

/** A clock whose timers of two seconds fire only when the test releases them. */
class WaitingClock extends PatientClock {
  readonly #changes = new Changes();
  readonly #waiting: (() => void)[] = [];
  #isReleased = false;

  override after(delayMs: number, action: () => void): CancelTimer {
    if (delayMs !== LAST_WORDS_MS || this.#isReleased) return super.after(delayMs, action);
    this.#waiting.push(action);
    this.#changes.tell();
    return () => undefined;
  }

  /** Resolves when such a timer is set. */
  async waits(): Promise<void> {
    await this.#changes.until("a timer of two seconds", () => this.#waiting.length > 0);
  }

  release(): void {
    this.#isReleased = true;
    for (const action of this.#waiting) action();
  }
}

/** Returns a caller who has heard the greeting, and the lengths of the pauses that the vendor was asked to make. */
async function greetedCaller() {
  const clock = new WaitingClock();
  const server = await TestServer.start({ clock });
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: GREETING } });
  const pausesSec: number[] = [];
  const pause = (lengthSec: number) => Promise.resolve(void pausesSec.push(lengthSec));
  const caller = await ring(server, customer, { pause });
  await heard(caller, GREETING);
  return { clock, server, caller, pausesSec };
}

test("a server that has ended its calls still answers the vendors' requests for the next step", async () => {
  const { clock, server, caller, pausesSec } = await greetedCaller();
  const stopped = server.stop();
  assert.equal((await closeOfPhone(caller)).reason, "the server is restarting");
  await server.quiet();
  await assert.rejects(caller.continue(), /the server is restarting/);
  assert.deepEqual(pausesSec, [9, 9, 9, 3]);
  clock.release();
  await stopped;
});

test("a server that waits for its last call still answers such requests after the call breaks by itself", async () => {
  const { clock, server, caller, pausesSec } = await greetedCaller();
  const stopped = server.stop(600_000);
  caller.drop();
  await Promise.race([clock.waits(), stopped]);
  await assert.rejects(caller.continue(), /the server is restarting/);
  assert.deepEqual(pausesSec, [9, 9, 9, 3]);
  clock.release();
  await stopped;
});

test("a server whose last caller has hung up stops without waiting", async () => {
  const { server, caller } = await greetedCaller();
  const stopped = server.stop(600_000);
  await caller.hangUp();
  await stopped;
});
