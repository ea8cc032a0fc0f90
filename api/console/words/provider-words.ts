import type { Answered } from "../model/contract-paths.js";

export type Provider = Answered<"getProvider">;
type Fault = NonNullable<Provider["lastFault"]>["fault"];

const FAULTS: Readonly<Record<Fault, string>> = {
  unauthorized: "key rejected",
  refused: "request rejected",
  quotaExceeded: "quota exhausted",
  notFound: "unknown model",
  rateLimited: "rate limited",
  unavailable: "service unavailable",
  timeout: "timed out",
  disconnected: "connection lost",
  badAnswer: "invalid response",
  aborted: "cancelled",
};

/** What a vendor did wrong, behind "Last fault:". */
export function vendorFaultWords(fault: Fault): string {
  return FAULTS[fault];
}

/** As `vendorFaultWords`, of a fault that a call has kept, which this console may not know. */
export function keptFaultWords(fault: string): string {
  return Object.entries(FAULTS).find(([known]) => known === fault)?.[1] ?? fault;
}

type ModelNotice = Omit<Provider["modelNotices"][number], "modelId">;

/** A warning about a model's retirement, shown after its name. */
export function modelNoticeWords({ stage, retiresOn, successor }: ModelNotice): string {
  const instead = successor === null ? "" : ` Use ${successor} instead.`;
  if (stage === "deprecated") return `deprecated by its vendor.${instead}`;
  const verb = stage === "retired" ? "retired" : "retires";
  return `${verb} on ${retiresOn ?? "a day that is not known"}.${instead}`;
}

type Correction = Provider["parameterCorrections"][number];

/** How requests to a model changed after it refused a parameter, shown after its name. */
export function correctionWords({ parameter, value, sentAs, onlyWithTools }: Correction): string {
  const beside = onlyWithTools ? " with tools" : "";
  if (value !== null) return `refused its ${parameter}${beside}; it gets ${value} instead`;
  if (sentAs !== null) return `refused ${parameter}${beside}; it gets ${sentAs} instead`;
  return `refused ${parameter}${beside}; it is left out`;
}

/** What a provider of the kind is in a call. */
export const KIND_NAMES = { llm: "LLM", tts: "TTS", stt: "STT" } as const;

type Keyed = Pick<Provider, "hasKey" | "simulated">;

/** Whether the vendor is asked with a key. */
export function keyWords({ hasKey, simulated }: Keyed): string {
  if (simulated)
    return hasKey ? "its key is not used in the sandbox" : "needs no key in the sandbox";
  return hasKey ? "key stored" : "no key stored";
}

export interface ProviderState {
  readonly tone: "" | "good" | "warn" | "fault";
  readonly text: string;
}

type ProviderHealth = Pick<Provider, "active" | "breaker" | "recentFailures">;

/** The state of a provider, as calls have found it. */
export function providerState({ active, breaker, recentFailures }: ProviderHealth): ProviderState {
  if (!active) return { tone: "", text: "switched off" };
  if (breaker === "open") return { tone: "fault", text: "failing: calls use their fallbacks" };
  if (breaker === "halfOpen") return { tone: "warn", text: "failed, retrying" };
  if (recentFailures === 0) return { tone: "good", text: "active" };
  const times = recentFailures === 1 ? "once" : `${recentFailures} times`;
  return { tone: "warn", text: `active, failed ${times} lately` };
}
