export const AGENT_STATES = {
  active: { words: "takes calls", look: "good" },
  inactive: { words: "switched off", look: "" },
  paused_provider: { words: "paused: a provider is missing", look: "warn" },
  paused_plan: { words: "paused: not in the plan", look: "warn" },
} as const;
