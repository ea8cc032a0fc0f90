import * as v from "valibot";
import type { Phrase } from "../load/phrases.js";
import { askServer } from "../phone/phone-stand.js";
import type { ServerStand } from "../stand/stand.js";

const DOCUMENTS = 10;
/** Longer than what stands whole in the prompt, so that each turn searches. */
const DOCUMENT_CHARACTERS_MIN = 5_000;
const MCP_TOOLS = 5;

const Document = v.object({ id: v.string(), status: v.literal("ready") });
const Offered = v.array(v.object({ tools: v.array(v.unknown()) }));

/** The fields of an agent with knowledge, variables, a request before the call, and the tools of an MCP server. */
export async function abilities(
  server: ServerStand,
  businessUrl: string,
  spoken: readonly Phrase[],
): Promise<object> {
  const documentIds: string[] = [];
  for (let number = 0; number < DOCUMENTS; number += 1) {
    documentIds.push(await upload(server, `document-${number}.md`, textOf(number, spoken)));
  }
  const systemPrompt = [
    "You answer the telephone of a workshop in {{city|town}}.",
    "The caller is {{firstName|somebody}}, who calls from {{caller}} on {{weekday}} at {{time}}",
    "and has {{orders|no}} orders.",
  ].join(" ");
  return {
    persona: { systemPrompt, greeting: "Hello {{firstName|there}}! How can I help you today?" },
    preCall: { url: `${businessUrl}/before` },
    knowledge: { documentIds },
    mcpServers: [{ name: "business", url: `${businessUrl}/mcp` }],
  };
}

/** Throws unless the agent's LLM is offered all tools; from here on the server knows them. */
export async function requireTools(server: ServerStand, agentId: string): Promise<void> {
  const path = `/api/dashboard/agents/${agentId}/mcp-tools`;
  const offered = v.parse(Offered, await askServer(server, path));
  const count = offered.reduce((sum, { tools }) => sum + tools.length, 0);
  if (count !== MCP_TOOLS) throw new Error(`the LLM is offered ${count} tools`);
}

/** Words of the callers in another order, so that questions find passages. */
function textOf(number: number, spoken: readonly Phrase[]): string {
  const lines: string[] = [];
  let length = 0;
  for (let at = number; length < DOCUMENT_CHARACTERS_MIN || at < spoken.length; at += DOCUMENTS) {
    const words = spoken[at % spoken.length]?.firstSentence.replace(".", "").split(" ") ?? [];
    const line = `${words.toReversed().join(" ")}.`;
    lines.push(line);
    length += line.length;
  }
  return lines.join("\n\n");
}

async function upload({ url, apiKey }: ServerStand, name: string, text: string): Promise<string> {
  const path = `/api/dashboard/knowledge/documents?name=${name}`;
  const headers = { "x-api-key": apiKey, "content-type": "application/octet-stream" };
  const answer = await fetch(`${url}${path}`, { method: "POST", headers, body: text });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return v.parse(Document, await answer.json()).id;
}
