import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ended, repliesOf } from "./events.js";
import { OWN_VENDORS_ALLOWED, OwnVendors } from "./own-vendors.js";
import { MODELS, TestServer } from "./test-server.js";

/** The measurements of a model that are required before it can count as late. */
const TIMES_KNOWN = 20;
const AGENTS = "/api/dashboard/agents";

let server: TestServer;
before(async () => {
  const generous = { VENDOR_REQUESTS_PER_MINUTE: "1000", HEDGING_TOKENS_PERCENT: "100" };
  server = await TestServer.start({ environment: { ...OWN_VENDORS_ALLOWED, ...generous } });
});
after(() => server.close());

test("if a model is later than usual, another one answers, and the turn and the metrics report it", async (context) => {
  const llm = { providerId: await server.providerId("llm", "groq"), modelId: MODELS.llm.groq };
  const fallbacks = { llm: [llm], hedging: true };
  const own = await OwnVendors.of(server, context, { faults: {}, agent: { fallbacks } });
  const headers = { "x-api-key": own.customer.apiKey, "content-type": "application/json" };
  const agents = await (await fetch(`${server.url}${AGENTS}`, { headers })).json();
  for (let n = 0; n < TIMES_KNOWN; n++) await chat(Object(agents)[0]._id, headers);
  own.faults.openai = { firstTokenMs: 60_000 };
  const caller = await own.call();
  await caller.say("say yes");
  await caller.until(ended);
  assert.deepEqual(repliesOf(caller), ["yes"]);
  await caller.hangUp();
  const { turns } = Object((await own.endedCall()).metadata);
  const { wastedTokens, ...hedges } = turns[0].llm.hedges;
  assert.deepEqual(
    { ...turns[0].llm, hedges },
    {
      vendor: "groq",
      model: MODELS.llm.groq,
      hedges: { asked: 1, won: 1, withheld: 0 },
    },
  );
  assert.ok(wastedTokens > 0);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  assert.match(metrics, /^parley_hedges_total\{outcome="won"\} 1$/m);
  assert.match(metrics, new RegExp(`^parley_hedge_wasted_tokens_total ${wastedTokens}$`, "m"));
});

async function chat(agentId: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const body = JSON.stringify({ messages: [{ role: "user", content: "say ok" }] });
  const url = `${server.url}${AGENTS}/${agentId}/chat`;
  const answer = await fetch(url, { method: "POST", headers, body });
  assert.match(await answer.text(), /ok/);
}
