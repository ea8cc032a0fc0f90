import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { LoopbackPlatform } from "../http/loopback-platform.js";
import { agentDraft, idIn } from "./agent-drafts.js";

const LISTS = "/api/dashboard/call-lists";
const NUMBER = "+4930123456";
let platform: LoopbackPlatform;

before(async () => {
  platform = await LoopbackPlatform.start();
});

after(() => platform.close());

/** An organization with an agent, and requests with its key. */
async function customer() {
  const { client } = platform;
  const tenancy = await platform.newTenancy("pro");
  const draft = await agentDraft(platform, tenancy);
  const agent = await client.post("/api/dashboard/agents", draft, tenancy.byKey);
  const list = {
    name: "Reminders",
    agentId: idIn(agent.body),
    from: "+15550109999",
    windows: [{ days: ["mon"], from: "09:00", to: "20:00" }],
  };
  const post = (path: string, body?: object) =>
    client.send("POST", `${LISTS}${path}`, { headers: tenancy.byKey, body });
  const get = (path: string) => client.get(`${LISTS}${path}`, tenancy.byKey);
  return { list, post, get, byKey: tenancy.byKey };
}

test("people come as JSON or as CSV, and not as both or neither", async () => {
  const { list, post } = await customer();
  const rows = [{ to: NUMBER, timeZone: "Europe/Berlin", variables: { firstName: "Ada" } }];
  const csv = `to,firstName\n${NUMBER},Ada\n`;
  for (const people of [{ rows }, { csv }]) {
    const answer = await post("", { ...list, ...people });
    assert.equal(answer.status, 201, answer.text);
    assert.deepEqual(Object(answer.body).counts.waiting, 1);
  }
  for (const people of [{ rows, csv }, {}]) {
    const answer = await post("", { ...list, ...people });
    assert.equal(answer.status, 400, answer.text);
    assert.equal(Object(answer.body).error, "rows: expected either rows or csv");
  }
});

test("a refusal names each row that is wrong, and nothing is stored", async () => {
  const { list, post, get } = await customer();
  const rows = [{ to: NUMBER }, { to: "030 123456" }, { to: "+49110" }];
  const answer = await post("", { ...list, rows });
  assert.equal(answer.status, 400, answer.text);
  assert.deepEqual(
    Object(answer.body).details.map(({ path }: { readonly path: string }) => path),
    ["rows.1.to", "rows.2.to"],
  );
  assert.doesNotMatch(answer.text, /030/);
  assert.deepEqual((await get("")).body, []);
});

test("a list is shown with its people, changed only where it can be, and its results are a file", async () => {
  const { list, post, get, byKey } = await customer();
  const created = await post("", { ...list, csv: `to,firstName\n${NUMBER},Ada\n` });
  const path = `/${String(Object(created.body).id)}`;
  const { rows, next } = Object((await get(`${path}/rows?state=waiting`)).body);
  assert.deepEqual(
    [rows, next],
    [
      [
        {
          position: 1,
          to: NUMBER,
          timeZones: ["Europe/Berlin"],
          variables: { firstName: "Ada" },
          state: "waiting",
          attempts: 0,
          lastCallId: null,
          lastCalledAt: null,
          reason: null,
          nextCallAfter: null,
        },
      ],
      null,
    ],
  );
  const early = await post(`${path}/resume`);
  assert.deepEqual([early.status, Object(early.body).code], [409, "conflict"]);
  assert.equal(Object((await post(`${path}/start`)).body).state, "running");
  const running = await platform.client.send("DELETE", `${LISTS}${path}`, { headers: byKey });
  assert.deepEqual([running.status, Object(running.body).code], [409, "conflict"]);
  const results = await get(`${path}/results`);
  assert.match(results.text, /^position,to,state,.*\r\n1,'\+4930123456,waiting,"",0,,,"Ada"\r\n$/);
  const progress = Object((await get(path)).body);
  assert.deepEqual([progress.hold, progress.nextCallAt, progress.outcomes], [null, null, []]);
  assert.equal(Object((await post(`${path}/cancel`)).body).state, "cancelled");
  const removed = await platform.client.send("DELETE", `${LISTS}${path}`, { headers: byKey });
  assert.equal(removed.status, 200, removed.text);
  assert.equal((await get(path)).status, 404);
});

test("a list that is uploaded again with its key is the first one, and with other people an error", async () => {
  const { client } = platform;
  const { list, byKey, get } = await customer();
  const other = await customer();
  const upload = (body: object, key = "upload-1", credentials = byKey) =>
    client.send("POST", LISTS, { headers: { ...credentials, "idempotency-key": key }, body });
  const body = { ...list, rows: [{ to: NUMBER }] };
  const first = await upload(body);
  assert.deepEqual([first.status, first.headers["idempotent-replayed"]], [201, undefined]);
  const again = await upload(body);
  assert.deepEqual([again.status, again.headers["idempotent-replayed"]], [201, "true"]);
  assert.deepEqual(again.body, first.body);
  const { id } = Object(first.body);
  await client.send("DELETE", `${LISTS}/${String(id)}`, { headers: byKey });
  assert.deepEqual((await upload(body)).body, first.body, "also of a list that is gone");
  assert.deepEqual((await get("")).body, []);
  const changed = await upload({ ...list, rows: [{ to: "+4930123457" }] });
  assert.deepEqual([changed.status, Object(changed.body).code], [422, "idempotency_key_reused"]);
  assert.doesNotMatch(changed.text, /\+49/);
  const theirs = await upload({ ...other.list, rows: [{ to: NUMBER }] }, "upload-1", other.byKey);
  assert.equal(theirs.status, 201, "keys of organizations are independent");
  assert.notEqual(Object(theirs.body).id, id);
  const wrong = await upload(body, "two words");
  assert.deepEqual(
    [wrong.status, Object(wrong.body).details],
    [400, [{ path: "Idempotency-Key", message: "expected 1 to 255 visible ASCII characters" }]],
  );
});
