import { VOICE_PROTOCOL } from "../voice-protocol.js";
import { QUICK_START } from "./quick-start.js";
import { TELEPHONY_PATH } from "./telephony-operation.js";

const SUMMARY =
  "Configurable voice agents for many organizations: accounts, agents, providers, API keys, calls and usage.";

const TELEPHONY = [
  "## Telephony",
  `A vendor asks \`POST ${TELEPHONY_PATH}?api_key=…&agent_id=…&vendor=…\` when a number is called, and is answered with its own document, which connects the call to \`/ws/telephony/stream\`.`,
  "The key needs the scope `voice` and never leaves this server: the stream carries a token that lasts minutes and fits one call. Where the vendor's own key is set, its signature is checked, and a wrong one is refused with 403. What a caller has to hear, as that all lines are taken, is answered with 200 and said on the telephone.",
].join("\n\n");

/** What the document says of the whole API, in Markdown: the parts that OpenAPI has no fields for too. */
export const API_DESCRIPTION: string = [
  SUMMARY,
  QUICK_START,
  voiceSection(VOICE_PROTOCOL),
  TELEPHONY,
].join("\n\n");

function voiceSection(protocol: typeof VOICE_PROTOCOL): string {
  const { path, summary, parameters, clientSends, serverSends, closeCodes } = protocol;
  return [
    "## Voice WebSocket",
    summary,
    `\`GET ${path}?api_key=…&agent_id=…\``,
    table(
      ["Query parameter", "Needed", "Meaning"],
      parameters.map(({ name, required, description }) => [
        `\`${name}\``,
        required ? "yes" : "no",
        description,
      ]),
    ),
    `**The client sends** ${clientSends}`,
    "**The server sends**",
    table(
      ["Type", "Frame", "Meaning"],
      serverSends.map(({ type, example, description }) => [
        `\`${type}\``,
        `\`${example}\``,
        description,
      ]),
    ),
    table(
      ["Close code", "Meaning"],
      closeCodes.map(({ code, meaning }) => [String(code), meaning]),
    ),
  ].join("\n\n");
}

/** No cell may hold a line break or a `|`. */
function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  return [headings, headings.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}
