import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as v from "valibot";
import { WebSocket } from "ws";
import { AgentCall, type AgentCallOptions } from "../../api/client/agent-call.js";
import type { CallEvents } from "../../api/client/call-events.js";
import { OwnSound } from "../../api/client/own-sound.js";
import { IssuedClientToken } from "../../api/contract/client-token.js";
import { ClientTokens } from "../../engine/security/client-token.js";
import { VirtualClock } from "../doubles/virtual-clock.js";
import { type Customer, TestServer } from "./test-server.js";

const SHOP = "https://shop.example.com";

let server: TestServer;
before(async () => {
  server = await TestServer.start();
});
after(() => server.close());

interface Client {
  readonly call: AgentCall;
  /** Resolves with the first matching event. */
  readonly next: <Name extends keyof CallEvents>(
    name: Name,
    isIt?: (event: CallEvents[Name]) => boolean,
  ) => Promise<CallEvents[Name]>;
}

/** The browser client, running in Node as a page of that origin. */
async function client(options: Partial<AgentCallOptions>, origin = SHOP): Promise<Client> {
  class PageSocket extends WebSocket {
    constructor(address: string) {
      super(address, { origin });
    }
  }
  const sound = new OwnSound({ onAudio: () => {} });
  const call = new AgentCall({ server: server.url, sound, WebSocket: PageSocket, ...options });
  const next: Client["next"] = (name, isIt = () => true) =>
    new Promise((resolve) => {
      const forget = call.on(name, (event) => {
        if (!isIt(event)) return;
        forget();
        resolve(event);
      });
    });
  return { call, next };
}

async function begun(options: Partial<AgentCallOptions>, origin = SHOP): Promise<Client> {
  const made = await client(options, origin);
  const connected = made.next("connected");
  await made.call.start();
  await connected;
  return made;
}

async function refusal(options: Partial<AgentCallOptions>, origin = SHOP): Promise<string> {
  const { call, next } = await client(options, origin);
  const ended = next("ended");
  await call.start();
  const { code, reason } = await ended;
  return `${code} ${reason}`;
}

async function hangUp({ call, next }: Client): Promise<void> {
  const ended = next("ended");
  call.hangUp();
  await ended;
}

async function token({ apiKey }: Customer, body: object): Promise<string> {
  const answer = await fetch(`${server.url}/api/dashboard/client-tokens`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": apiKey },
    body: JSON.stringify({ ttlSec: 60, ...body }),
  });
  assert.equal(answer.status, 201);
  return v.parse(IssuedClientToken, await answer.json()).token;
}

test("a token opens a call with its agent, whose greeting contains the token's variables", async () => {
  const customer = await server.customer();
  const persona = { greeting: "Hello {{name|there}}." };
  const { id: agentId } = await server.agent(customer, { persona });
  const variables = { name: "Ada" };
  const { call, next } = await client({ token: await token(customer, { agentId, variables }) });
  const heard = next("words", ({ kind }) => kind === "heard");
  const wait = next("wait");
  await call.start();
  assert.equal((await heard).text, "Hello Ada.");
  assert.equal((await wait).turn, 1);
  await hangUp({ call, next });
  const { agentId: called, status } = await server.endedCall(customer);
  assert.deepEqual([called, status], [agentId, "completed"]);
});

test("a call ends when its token's time is used up", async () => {
  const customer = await server.customer();
  const { id: agentId } = await server.agent(customer);
  const { call, next } = await client({ token: await token(customer, { agentId, callMaxSec: 1 }) });
  const ended = next("ended");
  await call.start();
  assert.equal((await ended).code, 1000);
  const { metadata } = await server.endedCall(customer);
  assert.equal(metadata["endReason"], "durationLimit");
});

test("another party that reads a token cannot open a call with it, and its page can continue", async () => {
  const customer = await server.customer();
  const { id: agentId } = await server.agent(customer, { persona: { greeting: "Hello." } });
  const stolen = await token(customer, { agentId });
  const page = await client({ token: stolen });
  // A conversation of which the caller has heard nothing cannot be continued.
  const heard = page.next("words", ({ kind }) => kind === "heard");
  await page.call.start();
  await heard;
  assert.equal(await refusal({ token: stolen }), "4001 token: the token was used for another call");
  const sessionId = page.call.historyKey;
  assert.ok(sessionId);
  assert.match(await refusal({ token: stolen, sessionId: "guessed" }), /^4001 .*another call/);
  await hangUp(page);
  const again = await begun({ token: stolen, sessionId });
  assert.equal(again.call.historyKey, sessionId);
  await hangUp(again);
});

test("a token allows one call at a time: a page that returns replaces its earlier call", async () => {
  const customer = await server.customer();
  const { id: agentId } = await server.agent(customer, { persona: { greeting: "" } });
  const own = await token(customer, { agentId });
  const pages = [await begun({ token: own })];
  for (let n = 0; n < 3; n += 1) {
    const last = pages.at(-1);
    assert.ok(last);
    const ended = last.next("ended");
    pages.push(await begun({ token: own, sessionId: last.call.historyKey }));
    await ended;
  }
  assert.equal(new Set(pages.map(({ call }) => call.historyKey)).size, 1);
  const last = pages.at(-1);
  assert.ok(last);
  await hangUp(last);
});

test("a token's time counts for the whole conversation, not for each connection", async () => {
  const customer = await server.customer();
  const { id: agentId } = await server.agent(customer, { persona: { greeting: "" } });
  const own = await token(customer, { agentId, callMaxSec: 1 });
  const page = await client({ token: own });
  const ended = page.next("ended");
  await page.call.start();
  assert.equal((await ended).code, 1000);
  // Callers are not told which limit was reached.
  assert.match(await refusal({ token: own, sessionId: page.call.historyKey }), /^4029 /);
});

test("a token is invalid once the API key that made it is revoked", async () => {
  const customer = await server.customer();
  const { id: agentId } = await server.agent(customer);
  const own = await token(customer, { agentId });
  const path = `/api/dashboard/api-keys/${customer.apiKeyId}`;
  const headers = { "x-api-key": customer.apiKey };
  const revoked = await fetch(`${server.url}${path}`, { method: "DELETE", headers });
  assert.equal(revoked.status, 200);
  assert.match(await refusal({ token: own }), /^4001 token: /);
});

test("a token that is expired, forged, or of another agent or origin opens no call", async () => {
  const customer = await server.customer();
  const { id: agentId } = await server.agent(customer);
  const { id: other } = await server.agent(customer, { name: "Other" });
  const claims = { orgId: customer.tenant.organization.id, agentId, variables: {} };
  const yesterday = new VirtualClock(Date.now() - 86_400_000);
  const secret = "j".repeat(32);
  const made = new ClientTokens({ secret, clock: yesterday }).issue(
    { ...claims, callMaxSec: undefined, origin: undefined },
    3_600,
  );
  assert.equal(await refusal({ token: made?.token }), "4001 token: the token has expired");
  assert.equal(await refusal({ token: "nonsense" }), "4001 token: the token is wrong");
  const bound = await token(customer, { agentId, origin: SHOP });
  assert.equal(
    await refusal({ token: bound }, "https://thief.example"),
    "4001 token: the token is for pages of another origin",
  );
  assert.match(await refusal({ token: bound, agentId: other }), /^4001 .*another agent/);
  // None of these attempts has used up the token.
  await hangUp(await begun({ token: bound }));
});

test("a suspended organization's tokens open no call, including those made before", async () => {
  const customer = await server.customer();
  const { id: agentId } = await server.agent(customer);
  const made = await token(customer, { agentId });
  await server.tenancy.organizations.suspend(customer.email);
  assert.match(await refusal({ token: made }), /^4001 the organization is pending/);
});

test("a public agent takes calls only from its sites, and few at once from one address", async () => {
  const customer = await server.customer();
  const { id: agentId } = await server.agent(customer, { allowedOrigins: [SHOP] });
  const { id: hidden } = await server.agent(customer, { name: "Hidden" });
  assert.match(await refusal({ agentId }, "https://thief.example"), /^4001 /);
  assert.match(await refusal({ agentId: hidden }), /^4001 /);
  assert.match(await refusal({}), /^4001 /);
  const calls = await Promise.all([1, 2, 3].map(() => begun({ agentId })));
  assert.equal(await refusal({ agentId }), "4029 too many calls at once from this address");
  await Promise.all(calls.map(hangUp));
  await server.endedCalls(customer, 3);
  await hangUp(await begun({ agentId }));
});
