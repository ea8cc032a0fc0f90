import type { AgentRecord, PlanRecord } from "../../../storage/records.js";
import type { SessionSettings } from "../../conversation/state.js";
import { type StockPhrases, stockPhrases } from "../../conversation/stock-phrases.js";
import type { TransferResult } from "../../telephony/transfer-report.js";
import { sessionTools } from "../../tools/agent-toolbox.js";

/** On the telephone a caller who says nothing may have put the receiver aside. */
const CALLER_SILENCE_ON_TELEPHONE_MS = 10_000;

export interface CallCircumstances {
  readonly promptChars: number;
  readonly isPaced: boolean;
  readonly isStreamed: boolean;
  /** The caller talked to the agent a moment ago, and was cut off. */
  readonly wasBroken: boolean;
  /** The agent wanted to transfer the caller, and has the caller back. */
  readonly failedTransfer?: TransferResult | undefined;
}

/** How one call behaves, from the agent and what its plan allows. */
export function sessionSettings(
  agent: AgentRecord,
  plan: PlanRecord,
  { promptChars, isPaced, isStreamed, wasBroken, failedTransfer }: CallCircumstances,
): SessionSettings {
  const { thresholds, persona } = agent;
  const language = persona.language.split("-")[0]?.toLowerCase() ?? "en";
  const stock = stockPhrases(language);
  const { waitingWordMs } = thresholds;
  const callerSilenceMs =
    thresholds.callerSilenceMs ?? (isPaced ? CALLER_SILENCE_ON_TELEPHONE_MS : 0);
  const saysOwnWords = waitingWordMs > 0 || callerSilenceMs > 0;
  const onUnrecognizedSpeech =
    thresholds.onUnrecognizedSpeech ?? (isPaced && saysOwnWords ? "ask" : "ignore");
  const backAgain = failedTransfer && wordsAfterTransfer(stock, failedTransfer);
  const durationSec = Math.min(thresholds.maxCallDurationSec, plan.limits.maxCallDurationSec);
  return {
    greeting: backAgain ?? (wasBroken ? stock.interrupted : persona.greeting),
    apology: stock.apology,
    cannotTransfer: stock.cannotTransfer,
    suspended: stock.suspended,
    mustEnd: stock.mustEnd,
    phrases: saysOwnWords ? stock : undefined,
    repeatRequest: onUnrecognizedSpeech === "ask" ? stock.notRecognized : "",
    waitingWordMs,
    callerSilenceMs,
    sensitivity: thresholds.interruptionSensitivity,
    language,
    agreementWords: thresholds.agreementWords,
    earlyReply: thresholds.earlyReply,
    // The target has just not been reached; a caller is not sent there in circles.
    onVendorsLost: failedTransfer === undefined ? thresholds.onVendorsLost : "end",
    silenceTimeoutMs: thresholds.silenceTimeoutMs,
    patienceMs: thresholds.patienceMs,
    keypadDigits: thresholds.keypadDigits,
    durationMaxMs: durationSec * 1_000,
    isPaced,
    isStreamed,
    tools: sessionTools(agent),
    systemPromptChars: promptChars,
  };
}

function wordsAfterTransfer(stock: StockPhrases, result: TransferResult): string {
  if (result === "busy") return stock.lineBusy;
  return result === "noAnswer" ? stock.noAnswer : stock.cannotTransfer;
}
