import assert from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import { ThreadClient } from "../../storage/sqlite/thread-client.js";
import { PatientClock } from "../doubles/patient-clock.js";
import { closeOf } from "./events.js";
import { ring } from "./telephone-stand.js";
import type { Customer } from "./test-customers.js";
import { TestServer } from "./test-server.js";

const GREETING = "Hello there.";
/** The server asks on its own for which organizations are suspended, and says that its calls are alive. */
const OF_REQUESTS = /^insert into "calls"|"(apiKeys|plans|agents|providers|dailyUsage)"/;
const READS = 20;

/** The machine may be slow: what is kept for a second is kept for as long as this clock stands. */
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

  /** What the storage thread is asked meanwhile by requests and calls that are opened. */
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

  test("a REST read by API key asks the storage thread for nothing", async (context) => {
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

  test("a call that is opened soon after another of its agent asks for nothing but its own record", async (context) => {
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

  test("so does a telephone call, from its webhook to the first it hears", async (context) => {
    const customer = await callable();
    const answered = async () => {
      const caller = await ring(server, customer);
      // While the clock stands, no frame is due but the first.
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
