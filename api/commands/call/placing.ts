import * as v from "valibot";
import { serverAddress } from "../../client/call-address.js";
import { CommandFault } from "../command-fault.js";
import { printable } from "../terminal.js";

const ANSWER_MAX_MS = 15_000;

const Agents = v.array(v.object({ _id: v.string(), status: v.optional(v.string()) }));
const Refusal = v.object({ error: v.string() });

export interface CallOrder {
  /** The server's URL, with its sub-path where it has one. */
  readonly url: string;
  readonly apiKey: string;
  /** Undefined: the organization's first active agent. */
  readonly agentId: string | undefined;
  readonly to: string;
  readonly from: string;
}

/** `POST /api/dashboard/calls`. Rejects with a CommandFault that has the server's words. */
export async function placeCall({ url, apiKey, to, from, ...order }: CallOrder): Promise<void> {
  const base = url.replace(/^ws/, "http");
  const agentId = order.agentId ?? (await firstAgent(base, apiKey));
  await ask(base, "/api/dashboard/calls", apiKey, { agentId, to, from });
}

async function firstAgent(base: string, apiKey: string): Promise<string> {
  const agents = v.safeParse(Agents, await ask(base, "/api/dashboard/agents", apiKey));
  if (!agents.success) throw new CommandFault(`what answers at ${base} is not a Parley server`);
  const agent = agents.output.find(({ status }) => status === undefined || status === "active");
  if (agent === undefined) throw new CommandFault("the organization has no agent that is active");
  return agent._id;
}

async function ask(base: string, path: string, apiKey: string, body?: object): Promise<unknown> {
  const response = await fetch(serverAddress(base, path), {
    method: body === undefined ? "GET" : "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(ANSWER_MAX_MS),
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer;
  const refusal = v.safeParse(Refusal, answer);
  const words = refusal.success ? `: ${printable(refusal.output.error)}` : "";
  throw new CommandFault(`the server refused with status ${response.status}${words}`);
}
