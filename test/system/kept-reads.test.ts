import assert from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import { ThreadClient } from "../../storage/sqlite/thread-client.js";
import { PatientClock } from "../doubles/patient-clock.js";
import { closeOf } from "./events.js";
import { ring } from "./telephone-stand.js";
import type { Customer } from "./test-customers.js";
import { TestServer } from "./test-server.js";

const GREETING = "Hello there.";
/**
 * The statements of requests and calls. The server also polls for suspended organizations, and sends heartbeats of its
 * calls.
 */
const OF_REQUESTS = /^insert into "calls"|"(apiKeys|plans|agents|providers|dailyUsage)"/;
const READS = 20;

/** The machine may be slow: entries that are cached for a second stay cached for as long as this clock stands still. */
class StandingClock extends PatientClock {
  #standsAtMs: number | undefined;

  stand(): void {
    this.#standsAtMs = super.monotonicMs();
  }

  goOn(): void {
    this.#standsAtMs = undefined;
  }

  override monotonicMs(): number {
    return this.#standsAtMs ?? super.monotonicMs();
  }
}

describe("repeated reads", () => {
  const clock = new StandingClock();
  let server: TestServer;
  before(async () => {
    server = await TestServer.start({ clock });
  });
  after(() => server.close());

  /** Returns the statements that `act` sends to the storage thread for requests and opened calls. */
  async function askedOfStore(
    context: TestContext,
    act: () => Promise<unknown>,
  ): Promise<readonly string[]> {
    const send = context.mock.method(ThreadClient.prototype, "send");
    await act();
    send.mock.restore();
    return send.mock.calls.flatMap(({ arguments: [statements] }) =>
      statements.flatMap(({ sql }) => OF_REQUESTS.exec(sql)?.[0] ?? []),
    );
  }

  test("a repeated REST read by API key sends no statement to the storage thread", async (context) => {
    const customer = await server.customer();
    const { id } = await server.agent(customer);
    const read = async (path: string) => {
      const headers = { "x-api-key": customer.apiKey };
      const response = await fetch(`${server.url}/api/dashboard/${path}`, { headers });
      assert.equal(response.status, 200);
      await response.text();
    };
    const paths = ["organization", "plan", "agents", `agents/${id}`];
    clock.stand();
    context.after(() => clock.goOn());
    for (const path of paths) await read(path);
    const asked = await askedOfStore(context, async () => {
      for (let n = 0; n < READS; n += 1) await Promise.all(paths.map(read));
    });
    assert.deepEqual(asked, []);
  });

  async function callable(): Promise<Customer> {
    const customer = await server.customer();
    await server.agent(customer, { persona: { greeting: GREETING } });
    return customer;
  }

  test("a call that is opened soon after another of its agent sends only the insert of its record", async (context) => {
    const customer = await callable();
    clock.stand();
    context.after(() => clock.goOn());
    const first = await server.call(customer);
    const calls = [first];
    const asked = await askedOfStore(context, async () => {
      calls.push(await server.call(customer));
    });
    assert.deepEqual(asked, ['insert into "calls"']);
    await server.tenancy.organizations.suspend(customer.email);
    assert.equal((await closeOf(server.dial(customer))).code, 4001);
    await Promise.all(calls.map((call) => call.hangUp()));
  });

  test("a telephone call soon after another sends only the insert of its record until its first audio", async (context) => {
    const customer = await callable();
    const answered = async () => {
      const caller = await ring(server, customer);
      // While the clock stands still, only the first frame is due.
      await caller.until(({ type }) => type === "audio");
      return caller;
    };
    clock.stand();
    context.after(() => clock.goOn());
    const callers = [await answered()];
    const asked = await askedOfStore(context, async () => {
      callers.push(await answered());
    });
    assert.deepEqual(asked, ['insert into "calls"']);
    await Promise.all(callers.map((caller) => caller.hangUp()));
  });
});
