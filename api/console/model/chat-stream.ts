import { ApiError, faultOf, fetchAsUser } from "./api.js";
import type { Sent } from "./contract-paths.js";
import { SERVER_URL } from "./server-address.js";
import { serverEvents } from "./server-events.js";

export type ChatMessage = Sent<"chatWithAgent">["messages"][number];

/** The most that the API takes of a conversation; the oldest go first. */
const MESSAGES_MAX = 39;

/** The agent's reply, piece by piece. Throws an ApiError when there is none. */
export async function* chatReply(
  agentId: string,
  messages: readonly ChatMessage[],
  signal: AbortSignal,
): AsyncGenerator<string> {
  const url = `${SERVER_URL}/api/dashboard/agents/${agentId}/chat`;
  const body = JSON.stringify({ messages: messages.slice(-MESSAGES_MAX) });
  const headers = { "content-type": "application/json" };
  const response = await fetchAsUser(new Request(url, { method: "POST", headers, body, signal }));
  if (!response.ok || response.body === null) {
    throw faultOf(response.status, await response.json().catch(() => undefined));
  }
  for await (const { name, data } of serverEvents(response.body)) {
    if (name === "token") yield textOf(data, "text");
    if (name === "error") throw new ApiError(response.status, textOf(data, "message"));
  }
}

function textOf(data: string, field: string): string {
  const value: unknown = JSON.parse(data);
  if (typeof value !== "object" || value === null) return "";
  const text: unknown = Object.entries(value).find(([name]) => name === field)?.[1];
  return typeof text === "string" ? text : "";
}
