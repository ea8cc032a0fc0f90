import type { Answered } from "./contract-paths.js";

export const FIRST_STEP_IDS = ["agent", "key", "voice", "call", "number", "page"] as const;
export type FirstStepId = (typeof FIRST_STEP_IDS)[number];

interface OrganizationState {
  readonly agents: readonly Pick<Answered<"getAgent">, "ttsConfig" | "allowedOrigins">[];
  readonly providers: readonly Pick<Answered<"getProvider">, "active" | "hasKey" | "simulated">[];
  readonly callCount: number;
  readonly phoneCallCount: number;
  /** Numbers that callers of the organization dial. */
  readonly inboundNumberCount: number;
  /** Every telephone call is one of the sandbox. */
  readonly isTelephonySimulated: boolean;
}

/** The steps that the organization has done, by what it has: nothing is remembered of clicks. */
export function doneSteps(state: OrganizationState): ReadonlySet<FirstStepId> {
  const { agents, providers, callCount, phoneCallCount } = state;
  const { inboundNumberCount, isTelephonySimulated } = state;
  const isDone: Readonly<Record<FirstStepId, boolean>> = {
    agent: agents.length > 0,
    key: providers.some(({ active, hasKey, simulated }) => active && hasKey && !simulated),
    voice: agents.some(({ ttsConfig }) => ttsConfig.voice !== null),
    call: callCount > 0,
    number: inboundNumberCount > 0 || (phoneCallCount > 0 && !isTelephonySimulated),
    page: agents.some(({ allowedOrigins }) => allowedOrigins.length > 0),
  };
  return new Set(FIRST_STEP_IDS.filter((id) => isDone[id]));
}
