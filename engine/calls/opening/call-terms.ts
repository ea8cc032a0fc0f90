import type { AgentRecord } from "../../../storage/records.js";

/** What whoever let the caller in has laid down for this one call. */
export interface CallTerms {
  /** Agent and plan may allow less; undefined: they alone say. */
  readonly callMaxSec: number | undefined;
  /** What the agent's persona has in place of `{{name}}`. */
  readonly variables: Readonly<Record<string, string>>;
  /**
   * They are for one conversation, in which one call is open at a time: a call that goes on with it takes the place of the one
   * before, and `callMaxSec` counts from the beginning of the first.
   */
  readonly isOneConversation?: boolean;
}

/** `{{name}}`, also with blanks inside the braces. */
const PLACE = /\{\{\s*([A-Za-z]\w{0,39})\s*\}\}/g;

/**
 * The agent as the call has it. Names that have no value leave nothing behind; without any values the persona stays as it is,
 * braces too.
 */
export function withTerms(agent: AgentRecord, terms: CallTerms | undefined): AgentRecord {
  if (terms === undefined) return agent;
  const { callMaxSec = Number.POSITIVE_INFINITY, variables } = terms;
  const maxCallDurationSec = Math.min(agent.thresholds.maxCallDurationSec, callMaxSec);
  const thresholds = { ...agent.thresholds, maxCallDurationSec };
  if (Object.keys(variables).length === 0) return { ...agent, thresholds };
  const values = new Map(Object.entries(variables));
  const filled = (text: string) =>
    text.replace(PLACE, (_place, name: string) => values.get(name) ?? "");
  const { systemPrompt, greeting, personality, guardrails, language, timeZone } = agent.persona;
  const persona = {
    systemPrompt: filled(systemPrompt),
    greeting: filled(greeting),
    personality: filled(personality),
    guardrails: filled(guardrails),
    language,
    timeZone,
  };
  return { ...agent, thresholds, persona };
}
