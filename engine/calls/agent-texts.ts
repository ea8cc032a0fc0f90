/** All texts of an agent, and which of them can hold variables. */

import { type AgentRecord, isJsonObject } from "../../storage/records.js";
import { hasBraces, ownNamesIn, placeholderFault } from "../placeholders.js";
import type { FieldFault } from "../request-error.js";

/**
 * `variables`: they are filled in a call. `schema`: texts for the LLM in a JSON schema, without variables. `opaque`: no
 * text that anybody hears or reads. Other words say why a text has no variables.
 */
type TextRule = "variables" | "schema" | "opaque" | `cannot hold variables${string}`;

/** By the names of fields; `*` stands for each item of a list, and for each name of a record. */
interface TextRules {
  readonly [field: string]: TextRule | TextRules;
}

const BEFORE_VALUES = "cannot hold variables, since the request is made before a call has values";
const OF_SERVER = "cannot hold variables, since all calls share the server's tool list";
const NONE = "cannot hold variables";

const SENTENCES = { onStart: "variables", onDelay: "variables", onFailure: "variables" } as const;
const PHRASES = { "*": "variables", waiting: { "*": "variables" } } as const;
const VENDOR = { providerId: "opaque", modelId: "opaque" } as const;

/** Every field of a request for an agent that is a text. */
export const AGENT_TEXTS: TextRules = {
  name: NONE,
  llmProviderId: "opaque",
  llmModelId: "opaque",
  ttsProviderId: "opaque",
  ttsModelId: "opaque",
  sttProviderId: "opaque",
  sttModelId: "opaque",
  persona: {
    greeting: "variables",
    systemPrompt: "variables",
    personality: "variables",
    guardrails: "cannot hold variables, which could change the rules",
    language: "opaque",
    timeZone: "opaque",
    stockPhrases: PHRASES,
    keyterms: { "*": "variables" },
    pronunciations: { "*": { word: "variables", say: "variables" } },
    languages: { "*": "opaque" },
    briefingLanguage: "opaque",
    languageTexts: {
      "*": {
        language: "opaque",
        greeting: "variables",
        stockPhrases: PHRASES,
        toolSentences: { "*": SENTENCES },
      },
    },
    outbound: { voicemailMessage: "variables", screeningAnswer: "variables" },
  },
  ttsConfig: {
    voice: "opaque",
    languageVoices: { "*": { language: "opaque", voice: "opaque", ...VENDOR } },
  },
  thresholds: { backchannelPhrases: { "*": NONE }, interruptionPhrases: { "*": NONE } },
  tools: {
    "*": {
      name: "opaque",
      to: NONE,
      description: "variables",
      parameters: "schema",
      url: "variables",
      headers: { "*": "variables" },
      fixedParameters: { "*": "variables" },
      ...SENTENCES,
    },
  },
  mcpServers: {
    "*": {
      name: "opaque",
      url: OF_SERVER,
      headers: { "*": "variables" },
      auth: {
        token: "opaque",
        tokenUrl: OF_SERVER,
        clientId: "opaque",
        clientSecret: "opaque",
        scope: "opaque",
      },
      allowedTools: { "*": "opaque" },
      ...SENTENCES,
    },
  },
  preCall: { url: BEFORE_VALUES, headers: { "*": BEFORE_VALUES }, secret: "opaque" },
  analysis: {
    schema: "schema",
    successCriteria: "cannot hold variables, since calls are analyzed together",
    llmProviderId: "opaque",
    llmModelId: "opaque",
  },
  allowedOrigins: { "*": "opaque" },
  fallbacks: { llm: { "*": VENDOR }, tts: { "*": VENDOR }, stt: { "*": VENDOR } },
  knowledge: { documentIds: { "*": "opaque" } },
};

/** Why texts in the fields of an agent cannot be used: no caller hears braces, and no service gets them. */
export function agentTextFaults(fields: object): readonly FieldFault[] {
  return faultsIn(fields, AGENT_TEXTS, "");
}

function faultsIn(
  value: unknown,
  rule: TextRule | TextRules | undefined,
  path: string,
): readonly FieldFault[] {
  if (rule === undefined || rule === "opaque" || value === undefined || value === null) return [];
  if (rule === "schema") return schemaFaults(value, path);
  if (typeof value === "string") {
    const message = typeof rule === "string" ? textFault(value, rule) : undefined;
    return message === undefined ? [] : [{ path, message }];
  }
  if (typeof value !== "object" || typeof rule === "string") return [];
  return Object.entries(value).flatMap(([key, each]) =>
    faultsIn(each, rule[key] ?? rule["*"], path === "" ? key : `${path}.${key}`),
  );
}

function textFault(text: string, rule: TextRule): string | undefined {
  if (rule === "variables") return placeholderFault(text);
  return hasBraces(text) ? rule : undefined;
}

/** Only what the LLM reads as words: other texts of a schema are data. */
function schemaFaults(schema: unknown, path: string): readonly FieldFault[] {
  if (Array.isArray(schema)) {
    return schema.flatMap((each, index) => schemaFaults(each, `${path}.${index}`));
  }
  if (!isJsonObject(schema)) return [];
  return Object.entries(schema).flatMap(([key, each]) => {
    const own = `${path}.${key}`;
    const isWords = (key === "description" || key === "title") && typeof each === "string";
    if (!isWords) return schemaFaults(each, own);
    return hasBraces(each) ? [{ path: own, message: NONE }] : [];
  });
}

/** Texts of an agent's requests that are stored encrypted. */
export type SealedTexts = readonly Readonly<Record<string, string>>[];

/** The names of an agent's variables that not every call has, each once. */
export function agentVariables(
  { persona, tools, mcpServers }: Pick<AgentRecord, "persona" | "tools" | "mcpServers">,
  sealed: SealedTexts = [],
): readonly string[] {
  return ownNamesIn([
    ...filledTextsIn({ persona, tools, mcpServers }, AGENT_TEXTS),
    ...sealed.flatMap((texts) => Object.values(texts)),
  ]);
}

/** The texts that can hold variables. */
function filledTextsIn(value: unknown, rule: TextRule | TextRules | undefined): readonly string[] {
  if (typeof value === "string") return rule === "variables" ? [value] : [];
  if (typeof value !== "object" || value === null || typeof rule !== "object") return [];
  return Object.entries(value).flatMap(([key, each]) =>
    filledTextsIn(each, rule[key] ?? rule["*"]),
  );
}

/** Whether a call has something to fill in the texts that its agent says and reads. */
export function hasTextsToFill(
  agent: Pick<AgentRecord, "persona" | "tools" | "mcpServers">,
): boolean {
  const { persona, tools, mcpServers } = agent;
  return filledTextsIn({ persona, tools, mcpServers }, AGENT_TEXTS).some(hasBraces);
}
