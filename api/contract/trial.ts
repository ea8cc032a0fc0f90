import * as v from "valibot";
import { voiceField } from "./agent.js";
import { variablesField } from "./call-values.js";
import {
  Count,
  choiceField,
  FreeForm,
  freeFormField,
  idField,
  nameField,
  numberField,
  objectField,
  requestObject,
  textField,
  worded,
} from "./fields.js";

/** Twice what a call keeps of a conversation. */
const CHAT_MESSAGES_MAX = 40;
const MESSAGE_CHARACTERS_MAX = 8_000;
/** About 8,000 tokens, as much as an agent's instructions may have. */
const CHAT_CHARACTERS_MAX = 32_000;

const messageField = objectField("a message", {
  role: choiceField("who said it", ["user", "assistant"]),
  content: textField("what was said", MESSAGE_CHARACTERS_MAX, 1),
});

export const ChatBody = requestObject({
  messages: worded(
    v.pipe(
      v.array(messageField),
      v.minLength(1),
      v.maxLength(CHAT_MESSAGES_MAX),
      v.check((messages) => messages.at(-1)?.role === "user"),
      v.check(
        (messages) =>
          messages.reduce((sum, { content }) => sum + content.length, 0) <= CHAT_CHARACTERS_MAX,
      ),
      v.description(
        `the conversation, a list of 1 to ${CHAT_MESSAGES_MAX} messages of ${CHAT_CHARACTERS_MAX} characters together, the last of them the user's`,
      ),
    ),
  ),
});

export const ToolTestBody = requestObject({
  name: nameField(
    "the name of an HTTP tool of the agent, or of a tool of its MCP servers for the LLM",
  ),
  arguments: freeFormField("what the LLM would write"),
  variables: v.optional(variablesField()),
});

export const ToolTest = v.object({
  request: v.object({
    method: v.picklist(["GET", "POST"]),
    url: v.string(),
    headers: v.pipe(v.record(v.string(), v.string()), v.description("secret values are hidden")),
    arguments: v.pipe(FreeForm, v.description("fixed parameters are hidden")),
    mcpTool: v.exactOptional(
      v.pipe(
        v.object({ server: v.string(), name: v.string() }),
        v.description("of a tool of an MCP server: its name there"),
      ),
    ),
  }),
  ok: v.boolean(),
  status: v.pipe(
    v.nullable(v.number()),
    v.description("null where the service did not answer, and for tools of MCP servers"),
  ),
  content: v.pipe(v.string(), v.description("what the LLM would read")),
  durationMs: Count,
});

export const ChatToken = v.object({
  text: v.pipe(v.string(), v.description("the next piece of the reply")),
});

export const ChatDone = v.object({
  usage: v.object({
    promptTokens: Count,
    completionTokens: Count,
    totalTokens: Count,
  }),
});

export const ChatError = v.object({
  message: v.pipe(v.string(), v.description("in plain words; nothing follows")),
});

export const CHAT_EVENTS = { token: ChatToken, done: ChatDone, error: ChatError };

const latencyMs = v.pipe(
  Count,
  v.description("from the request to the end of the vendor's answer, connecting included"),
);

/** A vendor's refusal is a result, too. */
const failure = v.object({
  ok: v.literal(false),
  latencyMs,
  error: v.pipe(
    v.string(),
    v.description("in plain words; of an own provider with the vendor's words"),
  ),
  fault: v.picklist([
    "unauthorized",
    "refused",
    "quotaExceeded",
    "notFound",
    "rateLimited",
    "unavailable",
    "timeout",
    "disconnected",
    "badAnswer",
    "aborted",
  ]),
});

export const ProviderTest = v.variant("ok", [
  v.object({ ok: v.literal(true), latencyMs }),
  failure,
]);

/** About 15 seconds of speech. */
const PREVIEW_CHARACTERS_MAX = 200;

export const PreviewBody = requestObject({
  text: textField("the sentence to speak", PREVIEW_CHARACTERS_MAX, 1),
  modelId: idField("a model of the tts provider"),
  voice: voiceField("the vendor's id of a voice"),
  speed: v.optional(numberField("the rate of speech", 0.25, 4), 1),
  language: v.optional(textField("a language tag such as en-US", 35, 1), "en-US"),
});

export const VoicePreview = v.variant("ok", [
  v.object({
    ok: v.literal(true),
    latencyMs: v.pipe(Count, v.description("from the request to the first audio")),
    audio: v.pipe(v.string(), v.description("an MP3 in base64, 1 MiB at most")),
  }),
  failure,
]);

export const ProviderVoiceList = v.object({
  chosenBy: v.pipe(
    v.picklist(["model", "voice"]),
    v.description(
      "`voice`: the voice is chosen beside the model, by the agent's `ttsConfig.voice`; `model`: each model is a voice",
    ),
  ),
  voices: v.pipe(
    v.array(
      v.object({
        voiceId: v.string(),
        name: v.string(),
        language: v.nullable(v.string()),
        description: v.nullable(v.string()),
      }),
    ),
    v.description("500 at most; empty where the vendor has no list"),
  ),
  hasMore: v.pipe(v.boolean(), v.description("the account has more voices than are listed")),
  error: v.pipe(
    v.nullable(v.string()),
    v.description("why the vendor gave no list, in plain words; null where it did"),
  ),
});
