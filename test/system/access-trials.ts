import assert from "node:assert/strict";
import * as v from "valibot";
import { WebSocket } from "ws";
import { IssuedClientToken } from "../../api/contract/client-token.js";
import type { Tenancy } from "../../engine/tenancy/tenancy.js";
import type { Database } from "../../storage/database.js";
import { CallWatcher } from "./call-watcher.js";
import { eventually } from "./eventually.js";
import type { Customer, TestCustomers } from "./test-customers.js";
import { userToken } from "./user-token.js";

/** Several processes of one platform, which share only their database and their messages. */
export interface AccessStand {
  /** Used in turn. If all have the same address, the kernel distributes the connections. */
  readonly urls: readonly string[];
  readonly database: Database;
  readonly tenancy: Tenancy;
  readonly customers: TestCustomers;
}

const ATTEMPTS = 20;
const RETURNS = 10;
const WATCHES = 6;
const CALL_MAX_SEC = 2;
const Connected = v.object({ type: v.literal("connected"), historyKey: v.string() });

/** One connection of a page that has a client token. */
class TokenCall {
  /** The key of the conversation, or the reason why the connection was refused. */
  readonly outcome: Promise<{ readonly historyKey: string } | string>;
  readonly closed: Promise<string>;
  isOpen = true;
  readonly #socket: WebSocket;

  constructor(url: string, token: string, historyKey?: string) {
    const address = new URL(`${url.replace("http", "ws")}/ws/voice`);
    address.searchParams.set("token", token);
    if (historyKey !== undefined) address.searchParams.set("session_id", historyKey);
    const socket = new WebSocket(address, { perMessageDeflate: false });
    this.#socket = socket;
    socket.on("error", () => undefined);
    this.closed = new Promise((resolve) => {
      socket.once("close", (code, reason) => {
        this.isOpen = false;
        resolve(`${code} ${reason.toString()}`);
      });
    });
    const connected = new Promise<{ historyKey: string }>((resolve) => {
      socket.on("message", (data: Buffer, isBinary) => {
        if (isBinary) return;
        const message = v.safeParse(v.pipe(v.string(), v.parseJson(), Connected), data.toString());
        if (message.success) resolve(message.output);
      });
    });
    this.outcome = Promise.race([connected, this.closed]);
  }

  async hangUp(): Promise<void> {
    this.#socket.close(1000);
    await this.closed;
  }
}

const at = ({ urls }: AccessStand, index: number): string => urls[index % urls.length] ?? "";

async function agentOf(stand: AccessStand, customer: Customer): Promise<string> {
  return (await stand.customers.agent(customer, { persona: { greeting: "" } })).id;
}

async function issue(url: string, apiKey: string, body: object): Promise<string> {
  const answer = await fetch(`${url}/api/dashboard/client-tokens`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": apiKey },
    body: JSON.stringify({ ttlSec: 60, ...body }),
  });
  assert.equal(answer.status, 201);
  return v.parse(IssuedClientToken, await answer.json()).token;
}

async function callsOf({ database }: AccessStand, { tenant }: Customer) {
  const { items } = await database.calls.list(tenant.organization.id, { skip: 0, limit: 100 });
  return items;
}

function allEnded(stand: AccessStand, customer: Customer) {
  return eventually("the ends of the calls", async () => {
    const calls = await callsOf(stand, customer);
    return calls.some(({ status }) => status === "active") ? undefined : calls;
  });
}

/**
 * A token that is used at all processes at once opens one call. If pages return with it at all processes at once, one
 * call stays open.
 */
export async function oneCallOfOneToken(stand: AccessStand): Promise<void> {
  const customer = await stand.customers.customer();
  const token = await issue(at(stand, 0), customer.apiKey, {
    agentId: await agentOf(stand, customer),
  });
  const dial = (count: number, historyKey?: string) =>
    Array.from({ length: count }, (_, n) => new TokenCall(at(stand, n), token, historyKey));
  const first = dial(ATTEMPTS);
  const outcomes = await Promise.all(first.map(({ outcome }) => outcome));
  const keys = outcomes.flatMap((outcome) => (typeof outcome === "string" ? [] : [outcome]));
  const refused = outcomes.filter((outcome) => typeof outcome === "string");
  assert.equal(keys.length, 1, outcomes.map((outcome) => JSON.stringify(outcome)).join("\n"));
  assert.deepEqual([...new Set(refused)], ["4001 token: the token was used for another call"]);
  assert.equal((await callsOf(stand, customer)).length, 1);

  const again = dial(RETURNS, keys[0]?.historyKey);
  const returns = await Promise.all(again.map(({ outcome }) => outcome));
  for (const outcome of returns) {
    if (typeof outcome !== "string") assert.deepEqual(outcome, keys[0]);
  }
  let seen = "";
  await eventually("one open call", async () => {
    const active = (await callsOf(stand, customer)).filter(({ status }) => status === "active");
    const open = [...first, ...again].filter(({ isOpen }) => isOpen);
    seen = `${active.length} active, ${open.length} open`;
    return active.length === 1 && open.length === 1 ? true : undefined;
  }).catch((error: unknown) => {
    throw new Error(`${seen}; the returns: ${JSON.stringify(returns)}`, { cause: error });
  });
  await Promise.all([...first, ...again].map((call) => call.hangUp()));
  await allEnded(stand, customer);
}

/**
 * The time of a conversation is counted once, whichever processes its connections reach, and the record says how it
 * ended.
 */
export async function oneTimeOfOneToken(stand: AccessStand): Promise<void> {
  const customer = await stand.customers.customer();
  const agentId = await agentOf(stand, customer);
  const body = { agentId, callMaxSec: CALL_MAX_SEC };
  const token = await issue(at(stand, 0), customer.apiKey, body);
  let last = new TokenCall(at(stand, 0), token);
  const opened = await last.outcome;
  assert.ok(typeof opened !== "string", JSON.stringify(opened));
  const { historyKey } = opened;
  // Reconnects until the call's time is used up.
  let outcome: string | typeof opened = opened;
  for (let n = 1; typeof outcome !== "string"; n += 1) {
    const before = last;
    last = new TokenCall(at(stand, n), token, historyKey);
    outcome = await last.outcome;
    await before.closed;
    if (n === 2 && typeof outcome !== "string") outcome = await last.closed;
  }
  for (let n = 0; n < RETURNS; n += 1) {
    const refusal = await new TokenCall(at(stand, n), token, historyKey).outcome;
    assert.ok(typeof refusal === "string", JSON.stringify(refusal));
    assert.match(refusal, /^4029 /);
  }
  const calls = await allEnded(stand, customer);
  const [newest, ...earlier] = calls.map(({ metadata }) => metadata["endReason"]);
  assert.equal(newest, "durationLimit");
  // On a busy machine the time may be used up in the first call.
  assert.deepEqual(
    earlier.filter((reason) => reason !== "callerLeft"),
    [],
  );
}

/** A revoked watcher stops receiving events at every process; other watchers continue. */
export async function watchesThatEnd(stand: AccessStand): Promise<void> {
  const customer = await stand.customers.customer();
  const orgId = customer.tenant.organization.id;
  const agentId = await agentOf(stand, customer);
  const { rawKey, record } = await stand.tenancy.apiKeys.create(orgId, { name: "Revoked" });
  const token = await issue(at(stand, 0), rawKey, { agentId });
  const email = `member-${crypto.randomUUID()}@example.com`;
  const member = await stand.tenancy.members.add(
    orgId,
    { name: "Member", email, password: "a password of the member", role: "member" },
    { type: "administrator", id: "test" },
  );
  const [ofMember, ofOwner] = await Promise.all(
    [email, customer.email].map((each) => userToken(stand.database, each)),
  );
  assert.ok(ofMember !== undefined && ofOwner !== undefined);
  const watch = (apiKey: string) =>
    Promise.all(
      Array.from({ length: WATCHES / 2 }, (_, n) =>
        CallWatcher.open({ url: at(stand, n), apiKey }),
      ),
    );
  // Opened first, since a watch ends by itself after a minute.
  const staying = await watch(customer.apiKey);
  const revoked = await watch(rawKey);
  const removed = await watch(ofMember);
  const remove = async (url: string, path: string) => {
    const headers = { authorization: `Bearer ${ofOwner}`, connection: "close" };
    const answer = await fetch(`${url}/api/dashboard/${path}`, { method: "DELETE", headers });
    assert.equal(answer.status, 200, await answer.text());
  };
  await remove(at(stand, 0), `api-keys/${record.id}`);
  await remove(at(stand, 1), `members/${member.id}`);
  await Promise.all([...revoked, ...removed].map((watcher) => watcher.over()));
  assert.ok(staying.every(({ isOver }) => !isOver));
  for (const watcher of staying) watcher.close();
  const dialled = Array.from({ length: RETURNS }, (_, n) => new TokenCall(at(stand, n), token));
  const refusals = await Promise.all(dialled.map(({ outcome }) => outcome));
  assert.deepEqual(
    [...new Set(refusals)],
    ["4001 token: the API key or the user that created the token is no longer active"],
  );
}
