import type { AgentRecord, PlanRecord } from "../../storage/records.js";
import type { SessionSettings } from "../session/state.js";
import { sessionTools } from "../tools/agent-toolbox.js";

/** Spoken when no reply could be made, by the first part of the language tag; anything else hears English. */
const APOLOGIES: Readonly<Record<string, string>> = {
  en: "I am sorry, I could not answer that just now.",
  de: "Es tut mir leid, darauf konnte ich gerade nicht antworten.",
  es: "Lo siento, ahora mismo no he podido responder.",
  fr: "Je suis désolé, je n'ai pas pu répondre à l'instant.",
  it: "Mi dispiace, in questo momento non sono riuscito a rispondere.",
  nl: "Het spijt me, daar kon ik net niet op antwoorden.",
  pt: "Desculpe, não consegui responder agora.",
  ja: "申し訳ありません。ただいまお答えできませんでした。",
  zh: "抱歉，我刚才没能回答。",
};
const DEFAULT_APOLOGY = "I am sorry, I could not answer that just now.";

/** How one call behaves, from the agent and what its plan allows. */
export function sessionSettings(
  agent: AgentRecord,
  plan: PlanRecord,
  systemPromptChars: number,
  isPaced: boolean,
): SessionSettings {
  const { thresholds, persona } = agent;
  const language = persona.language.split("-")[0]?.toLowerCase() ?? "en";
  const durationSec = Math.min(thresholds.maxCallDurationSec, plan.limits.maxCallDurationSec);
  return {
    greeting: persona.greeting,
    apology: APOLOGIES[language] ?? DEFAULT_APOLOGY,
    sensitivity: thresholds.interruptionSensitivity,
    silenceTimeoutMs: thresholds.silenceTimeoutMs,
    durationMaxMs: durationSec * 1_000,
    isPaced,
    tools: sessionTools(agent),
    systemPromptChars,
  };
}
