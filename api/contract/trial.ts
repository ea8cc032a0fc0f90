import * as v from "valibot";
import { Count, choiceField, objectField, requestObject, textField, worded } from "./fields.js";

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

export const ProviderTest = v.variant("ok", [
  v.object({ ok: v.literal(true), latencyMs }),
  v.object({
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
  }),
]);
