import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { type Customer, TestServer } from "./test-server.js";
import { TwilioStand } from "./twilio-stand.js";

const LIST = "/api/dashboard/do-not-call";
const FROM = "+15550107700";
const TO = "+15550101000";

let stand: TwilioStand;
let server: TestServer;

before(async () => {
  stand = await TwilioStand.start();
  server = await TestServer.start({ environment: stand.environment, log: new RecordingLogger() });
  await stand.leadTo(server.parley.port);
});
after(async () => {
  await server.settled();
  await server.stop();
  stand.close();
});

async function request({ apiKey }: Customer, method: string, path: string, body?: object) {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  return { status: response.status, answer: Object(answer) };
}

test("a call to a number on the do-not-call list is refused, until the number is removed", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer, {});
  await server.tenancy.phoneNumbers.allow(customer.email, FROM);
  await server.tenancy.dialTargets.allow(customer.email, "+1555");
  const place = () =>
    request(customer, "POST", "/api/dashboard/calls", { agentId: agent.id, from: FROM, to: TO });

  const added = await request(customer, "POST", LIST, { numbers: [TO], note: "asked on a call" });
  assert.deepEqual([added.status, added.answer], [200, { total: 1 }]);
  const refused = await place();
  assert.deepEqual([refused.status, refused.answer.code], [403, "do_not_call"]);
  assert.equal(refused.answer.error, "to: the number is on the organization's do-not-call list");

  const listed = await request(customer, "GET", LIST);
  const [{ createdAt, ...listedNumber }] = listed.answer.numbers;
  assert.deepEqual(listedNumber, { number: TO, note: "asked on a call" });
  assert.ok(!Number.isNaN(Date.parse(createdAt)));
  assert.equal(listed.answer.next, null);

  const removed = await request(customer, "DELETE", `${LIST}/${encodeURIComponent(TO)}`);
  assert.deepEqual([removed.status, removed.answer], [200, { success: true }]);
  assert.equal((await place()).status, 201);
  const caller = await stand.of(TO, "the answer", (call) => call.caller);
  await caller.hangUp();
  await server.endedCall(customer);
  const again = await request(customer, "DELETE", `${LIST}/${encodeURIComponent(TO)}`);
  assert.deepEqual([again.status, again.answer.code], [404, "not_found"]);
});

test("a wrong request to the do-not-call list is refused with the field and what was expected", async () => {
  const customer = await server.customer();
  for (const [body, words] of [
    [{ numbers: [] }, /^numbers: expected the numbers in E\.164, a list of 1 to 1000/],
    [
      { numbers: ["030 123"] },
      /^numbers\.0: expected a number that is not to be called, an E\.164/,
    ],
    [{ numbers: [TO], note: "x".repeat(201) }, /^note: expected why.*at most 200 characters/],
    [{}, /^numbers: expected/],
  ] as const) {
    const { status, answer } = await request(customer, "POST", LIST, body);
    assert.equal(status, 400, JSON.stringify(answer));
    assert.match(answer.error, words);
    assert.doesNotMatch(answer.error, /030 123/);
  }
});
