import assert from "node:assert/strict";
import { test } from "node:test";
import { ThreadClient } from "../../storage/sqlite/thread-client.js";
import { PatientClock } from "../doubles/patient-clock.js";
import { closeOf } from "./events.js";
import { TestServer } from "./test-server.js";

/** The server asks on its own for which organizations are suspended, and says that its calls are alive. */
const OF_OPENINGS = /^insert into "calls"|"(apiKeys|plans|agents|providers|dailyUsage)"/;

/** The machine may be slow: what is kept for a second is kept for as long as this clock stands. */
class StandingClock extends PatientClock {
  #standsAtMs: number | undefined;

  stand(): void {
    this.#standsAtMs = super.monotonicMs();
  }

  override monotonicMs(): number {
    return this.#standsAtMs ?? super.monotonicMs();
  }
}

test("a call that is opened soon after another of its agent asks the database for nothing but its own record", async (context) => {
  const clock = new StandingClock();
  const server = await TestServer.start({ clock });
  context.after(() => server.close());
  const customer = await server.customer();
  await server.agent(customer);
  clock.stand();
  const first = await server.call(customer);
  const send = context.mock.method(ThreadClient.prototype, "send");
  const second = await server.call(customer);
  const asked = send.mock.calls.flatMap(({ arguments: [statements] }) =>
    statements.flatMap(({ sql }) => OF_OPENINGS.exec(sql)?.[0] ?? []),
  );
  assert.deepEqual(asked, ['insert into "calls"']);
  send.mock.restore();
  await server.tenancy.organizations.suspend(customer.email);
  assert.equal((await closeOf(server.dial(customer))).code, 4001);
  await Promise.all([first.hangUp(), second.hangUp()]);
});
