import { ChatCompletions, type ChatDialect } from "../chat-completions/chat-completions.js";
import { REASONING_FIELDS } from "../chat-completions/chat-parameters.js";
import { offeredModels } from "../model-catalog.js";
import { HTTP_PROTOCOLS } from "../setting-fields.js";
import { BASE_URL, REASONING_EFFORT, type Vendor } from "../vendor.js";

const PUBLIC_URL = "https://api.groq.com/openai/v1";

/** It reports usage by default. */
const DIALECT: ChatDialect = { vendor: "groq", publicUrl: PUBLIC_URL };

export const GROQ: Vendor = {
  key: "groq",
  apiKey: { isRequired: true, variable: "GROQ_API_KEY" },
  address: { variable: "GROQ_BASE_URL", publicUrl: PUBLIC_URL, protocols: HTTP_PROTOCOLS },
  llm: {
    displayName: "Groq",
    models: offeredModels("groq", "llm"),
    fields: REASONING_FIELDS,
    settings: [REASONING_EFFORT, BASE_URL],
    client: (given, context) => new ChatCompletions(DIALECT, given, context),
  },
};
