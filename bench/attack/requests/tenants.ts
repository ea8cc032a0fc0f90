import { randomUUID } from "node:crypto";
import * as v from "valibot";
import { openApiDocument } from "../../../api/contract/openapi/openapi.js";
import { Caller } from "../../../engine/sandbox/caller.js";
import type { Attack } from "../attack.js";
import type { AttackStand } from "../attack-stand.js";
import type { Answer, AttackedServer } from "../attacked-server.js";
import type { Findings } from "../findings.js";
import { newOrganization } from "../operator.js";

const Made = v.object({ _id: v.string() });
const MadeKey = v.object({ id: v.string() });
const STORED_MAX_MS = 10_000;
const PROVIDER = {
  category: "llm",
  providerKey: "ollama",
  name: "Of the first",
  models: [{ modelId: "m", label: "M" }],
};
/** What a stranger sends to a route with a body that a row of the document may take. */
const BODIES: readonly unknown[] = [
  {},
  { name: "Mine now" },
  { messages: [{ role: "user", content: "Whose?" }] },
];

export const TENANTS: Attack = {
  name: "tenants",
  promise:
    "every id of another organization on every route is answered as one that does not exist, and nothing of it shows or changes",
  weight: 3,
  sampleMs: 5_000,
  async run(stand, findings) {
    const server = await stand.server();
    const ids = await belongings(stand, server);
    const before = await everything(server);
    let rounds = 0;
    do {
      const stranger = await newOrganization(server);
      await foreignIds(server, stranger, ids, findings);
      await foreignCalls(server, stranger, ids, findings);
      await ownLists(server, stranger, ids, findings);
      const now = await everything(server);
      findings.demand(now === before, "something of the first organization was changed");
      rounds += 1;
    } while (!stand.isSample && stand.hasTime());
    findings.tell(`${rounds} strangers`);
  },
};

/** What the first organization owns, by id; one of them is the id by which a call can be continued. */
interface Belongings {
  readonly ids: readonly string[];
  readonly agentId: string;
  readonly historyKey: string;
}

async function belongings(stand: AttackStand, server: AttackedServer): Promise<Belongings> {
  const { url, apiKey } = server;
  const caller = await Caller.connect({ url, apiKey });
  await caller.say("say secret words");
  await caller.until(({ type }) => type === "audioEnd");
  await caller.hangUp();
  await stand.comesTrue(async () => (await server.activeCount()) === 0, STORED_MAX_MS);
  const path = "/api/dashboard";
  const provider = await server.read(Made, "POST", `${path}/providers`, { body: PROVIDER });
  const key = await server.read(v.array(MadeKey), "GET", `${path}/api-keys`);
  const call = (await server.calls()).items[0];
  const agentId = server.demo.agentId ?? "";
  const owned = [agentId, provider._id, key[0]?.id ?? "", call?._id ?? ""];
  if (owned.includes("")) throw new Error("the first organization lacks something to be stolen");
  return { ids: owned, agentId, historyKey: caller.historyKey ?? "" };
}

/** All that the first organization can read that no call of its own changes. */
async function everything(server: AttackedServer): Promise<string> {
  const paths = ["organization", "agents", "providers", "api-keys", "calls", "stats", "audit"];
  const answers = paths.map((path) => server.ask("GET", `/api/dashboard/${path}`));
  const texts = (await Promise.all(answers)).map(({ text }) => text);
  // Asking is noted beside the key that asked.
  return texts.join("\n").replaceAll(/"lastUsedAt":"[^"]*"/g, "");
}

interface Operation {
  readonly method: string;
  readonly path: string;
}

function operations(): readonly Operation[] {
  return Object.entries(openApiDocument().paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  );
}

async function foreignIds(
  server: AttackedServer,
  apiKey: string,
  { ids }: Belongings,
  findings: Findings,
): Promise<void> {
  for (const { method, path } of operations().filter((each) => each.path.includes("{id}"))) {
    for (const id of ids) {
      for (const body of method === "GET" || method === "DELETE" ? [undefined] : BODIES) {
        const ask = (target: string) =>
          server.ask(method, path.replace("{id}", target), { apiKey, body });
        const [theirs, nobodys] = [await ask(id), await ask(randomUUID())];
        findings.demand(
          isSame(theirs, nobodys),
          `${method} ${path} answers a foreign id otherwise than an unknown one`,
        );
      }
    }
  }
}

function isSame(one: Answer, other: Answer): boolean {
  return one.status >= 400 && one.status === other.status && one.text === other.text;
}

/** By the doors of calls: a foreign agent, and words of a foreign call. */
async function foreignCalls(
  server: AttackedServer,
  apiKey: string,
  { agentId, historyKey }: Belongings,
  findings: Findings,
): Promise<void> {
  const { url } = server;
  const refusal = async (id: string) => {
    const caller = Caller.dial({ url, apiKey, agentId: id, sessionId: historyKey });
    const event = await caller.until(({ type }) => type === "closed" || type === "connected");
    await caller.hangUp();
    return event.type === "closed" ? `${event.code} ${event.reason}` : "taken";
  };
  const [theirs, nobodys] = [await refusal(agentId), await refusal(randomUUID())];
  findings.demand(theirs === nobodys && theirs !== "taken", "a foreign agent was told of");
  const path = (id: string) => `/api/telephony/voice?vendor=twilio&agent_id=${id}`;
  const rings = await Promise.all(
    [agentId, randomUUID()].map((id) => server.ask("POST", path(id), { apiKey })),
  );
  findings.demand(
    rings[0]?.text === rings[1]?.text && !/<Stream/.test(rings[0]?.text ?? ""),
    "the webhook tells of a foreign agent",
  );
}

/** Whatever needs no id: no answer holds anything of the first organization. */
async function ownLists(
  server: AttackedServer,
  apiKey: string,
  { ids }: Belongings,
  findings: Findings,
): Promise<void> {
  for (const { method, path } of operations()) {
    if (method !== "GET" || path.includes("{id}")) continue;
    for (const filter of ["", `?agentId=${ids[0]}&limit=100`, "?category=llm&limit=100"]) {
      const { text } = await server.ask(method, path + filter, { apiKey });
      findings.demand(!ids.some((id) => text.includes(id)), `${path} shows what is foreign`);
    }
  }
  const place = (agentId: string | undefined) => {
    const body = { agentId, to: "+15550100", from: "+15550101" };
    return server.ask("POST", "/api/dashboard/calls", { apiKey, body });
  };
  const [theirs, nobodys] = [await place(ids[0]), await place(randomUUID())];
  findings.demand(isSame(theirs, nobodys), "a call can be placed by a foreign agent");
}
