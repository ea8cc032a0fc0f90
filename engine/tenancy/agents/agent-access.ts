import type {
  AgentRecord,
  Category,
  LanguageVoice,
  PlanRecord,
  ProviderRecord,
} from "../../../storage/records.js";
import type { FieldFault } from "../../request-error.js";
import { type ModelNotice, modelNotice } from "../../vendors/model-catalog.js";
import { voiceFault } from "../../vendors/registry.js";
import { CATEGORIES } from "../../vendors/vendor.js";
import { vendorOf } from "../../vendors/vendors.js";
import { type FallbackSlot, fallbackSlots } from "./agent-fallbacks.js";
import type { AgentVendorChoice } from "./agent-input.js";
import { languageFaults, languageVoiceSlots } from "./agent-languages.js";

/**
 * All rules about which providers and models an agent may use are in this file. Creating, updating, reading and calling
 * an agent, and the model search, use them. Nothing here waits or stores.
 */

export type AgentStatus = "active" | "inactive" | "paused_provider" | "paused_plan";

export interface AgentAvailability {
  readonly status: AgentStatus;
  /** A reason in plain words for the dashboard; null unless the agent is paused. */
  readonly pauseReason: string | null;
}

export type ProvidersById = ReadonlyMap<string, ProviderRecord>;

/** `refused`: the request is invalid (400). `gated`: the plan does not allow it (403). */
export interface AccessFaults {
  readonly refused: readonly FieldFault[];
  readonly gated: readonly FieldFault[];
}

/** Without a `modelId` the provider's own model is used, as for STT. */
type Slot = FallbackSlot;

/** A provider that an agent may use now, and the model to use. */
export interface UsableVendor {
  readonly provider: ProviderRecord;
  readonly modelId: string;
}

const CATEGORY_WORDS: Readonly<Record<Category, string>> = {
  llm: "language-model",
  tts: "text-to-speech",
  stt: "speech-to-text",
};

/** The plan limits which models of global providers are allowed; an organization's own providers have no such limit. */
export function isModelAllowed(
  plan: PlanRecord,
  provider: ProviderRecord,
  modelId: string,
): boolean {
  return (
    provider.orgId !== null ||
    plan.models[provider.category].includes(modelString(provider, modelId))
  );
}

/** The model that an STT provider uses: the first that the plan allows, else its first, else its vendor's first. */
export function sttModelId(plan: PlanRecord, provider: ProviderRecord): string {
  const modelIds = provider.models.map((model) => model.modelId);
  return (
    modelIds.find((modelId) => isModelAllowed(plan, provider, modelId)) ??
    modelIds[0] ??
    vendorOf(provider.providerKey)?.stt?.models[0]?.modelId ??
    ""
  );
}

export function providerIdsOf(agent: AgentVendorChoice): readonly string[] {
  return [...slotsOf(agent), ...allFallbacksOf(agent)].map(({ providerId }) => providerId);
}

/** The agent's fallbacks, each at its index in the list. A fallback that the agent may not use now is undefined. */
export function usableFallbacks(
  agent: AgentRecord,
  category: Category,
  plan: PlanRecord,
  providersById: ProvidersById,
): readonly (UsableVendor | undefined)[] {
  return fallbackSlots(agent.fallbacks, category).map((slot) => {
    const provider = visibleProvider(agent.orgId, providersById.get(slot.providerId));
    if (provider === undefined || slotFault(slot, provider) !== undefined) return undefined;
    if (!provider.active || !isSlotInPlan(plan, slot, provider)) return undefined;
    return { provider, modelId: slot.modelId ?? sttModelId(plan, provider) };
  });
}

/** The agent's voices for other languages that it may use now. */
export function usableLanguageVoices(
  { orgId, ttsConfig: { languageVoices } }: AgentRecord,
  plan: PlanRecord,
  providersById: ProvidersById,
): readonly (LanguageVoice & UsableVendor)[] {
  const slots = languageVoiceSlots(languageVoices);
  return languageVoices.flatMap((voice, index) => {
    const slot = slots[index];
    const provider = visibleProvider(orgId, providersById.get(voice.providerId));
    if (slot === undefined || provider?.active !== true) return [];
    const isUsable = slotFault(slot, provider) === undefined && isSlotInPlan(plan, slot, provider);
    return isUsable ? [{ ...voice, provider }] : [];
  });
}

/** Returns why the request or the plan forbids this choice of providers; both lists are empty if it is allowed. */
export function accessFaults(
  orgId: string,
  plan: PlanRecord,
  choice: AgentVendorChoice,
  providersById: ProvidersById,
): AccessFaults {
  const refused: FieldFault[] = [];
  const gated: FieldFault[] = [];
  for (const slot of [...slotsOf(choice), ...allFallbacksOf(choice)]) {
    const provider = visibleProvider(orgId, providersById.get(slot.providerId));
    const fault = slotFault(slot, provider);
    if (fault !== undefined) refused.push(fault);
    else if (provider !== undefined && !isSlotInPlan(plan, slot, provider)) {
      gated.push({ path: slot.modelPath, message: outsidePlan(plan, slot, provider) });
    }
  }
  const stt = visibleProvider(orgId, providersById.get(choice.sttProviderId));
  const modelId = choice.sttModelId ?? (stt === undefined ? "" : sttModelId(plan, stt));
  refused.push(...languageFaults(choice, stt, modelId));
  return { refused, gated };
}

/** Returns why voices of the agent cannot be used, where the vendor's voices are known. */
export function voiceFaults(
  { ttsProviderId, ttsConfig }: Pick<AgentVendorChoice, "ttsProviderId" | "ttsConfig">,
  providersById: ProvidersById,
): readonly FieldFault[] {
  const own = { path: "ttsConfig.voice", providerId: ttsProviderId, voice: ttsConfig.voice };
  const others = ttsConfig.languageVoices.map(({ providerId, voice }, index) => {
    return { path: `ttsConfig.languageVoices.${index}.voice`, providerId, voice };
  });
  return [own, ...others].flatMap(({ path, providerId, voice }) => {
    const provider = providersById.get(providerId);
    const message = provider && voice !== null ? voiceFault(provider, voice) : undefined;
    return message === undefined ? [] : [{ path, message }];
  });
}

/** Returns the first usable provider of a chain: the agent's own one (place 0) or a fallback. Undefined if none is. */
export function firstUsable(
  agent: AgentRecord,
  category: Category,
  plan: PlanRecord,
  providersById: ProvidersById,
): (UsableVendor & { readonly place: number }) | undefined {
  const chain = [
    usablePrimary(agent, category, plan, providersById),
    ...usableFallbacks(agent, category, plan, providersById),
  ];
  const place = chain.findIndex((each) => each !== undefined);
  const first = chain[place];
  return first && { ...first, place };
}

function usablePrimary(
  agent: AgentRecord,
  category: Category,
  plan: PlanRecord,
  providersById: ProvidersById,
): UsableVendor | undefined {
  const slot = slotOf(agent, category);
  const provider = visibleProvider(agent.orgId, providersById.get(slot.providerId));
  if (provider?.active !== true || !isSlotInPlan(plan, slot, provider)) return undefined;
  return { provider, modelId: slot.modelId ?? sttModelId(plan, provider) };
}

/**
 * Returns the agent's status by the first rule that applies. An agent is not paused while one provider of each chain is
 * usable. `position`: the agent's index in the organization's agents, in creation order from 0.
 */
export function agentAvailability(
  agent: AgentRecord,
  position: number,
  plan: PlanRecord,
  providersById: ProvidersById,
): AgentAvailability {
  if (!agent.active) return { status: "inactive", pauseReason: null };
  const unusable = slotsOf(agent)
    .filter(({ category }) => firstUsable(agent, category, plan, providersById) === undefined)
    .map((slot) => ({
      slot,
      provider: visibleProvider(agent.orgId, providersById.get(slot.providerId)),
      others: agent.fallbacks[slot.category].length > 0 ? NOR_FALLBACKS : "",
    }));
  for (const { slot, provider, others } of unusable) {
    const reason = providerPause(slot, provider);
    if (reason === undefined) continue;
    return { status: "paused_provider", pauseReason: `${reason}${others}` };
  }
  for (const { slot, provider, others } of unusable) {
    if (provider === undefined) continue;
    const reason = outsidePlan(plan, slot, provider);
    return { status: "paused_plan", pauseReason: `${reason}${others}` };
  }
  if (position >= plan.limits.maxAgents) {
    return { status: "paused_plan", pauseReason: agentLimitReason(plan) };
  }
  return { status: "active", pauseReason: null };
}

export interface AgentModelNotice extends ModelNotice {
  readonly category: Category;
  readonly modelId: string;
}

/** The models of the agent, its fallbacks and its analysis that are retired or will be retired soon. */
export function agentModelNotices(
  agent: AgentRecord,
  plan: PlanRecord,
  providersById: ProvidersById,
  nowMs: number,
): readonly AgentModelNotice[] {
  const notices = new Map<string, AgentModelNotice>();
  for (const slot of [...slotsOf(agent), ...allFallbacksOf(agent)]) {
    const provider = visibleProvider(agent.orgId, providersById.get(slot.providerId));
    if (provider === undefined) continue;
    const modelId = slot.modelId ?? sttModelId(plan, provider);
    const notice = providerModelNotice(provider, modelId, nowMs);
    if (notice === undefined) continue;
    notices.set(modelString(provider, modelId), { category: slot.category, modelId, ...notice });
  }
  return [...notices.values()];
}

/** Returns undefined for a provider with its own `baseUrl`, since any models may be served there. */
export function providerModelNotice(
  {
    providerKey,
    category,
    settings,
  }: Pick<ProviderRecord, "providerKey" | "category" | "settings">,
  modelId: string,
  nowMs: number,
): ModelNotice | undefined {
  if (settings["baseUrl"] !== undefined) return undefined;
  return modelNotice(providerKey, category, modelId, nowMs);
}

export function agentLimitReason(plan: PlanRecord): string {
  const { maxAgents } = plan.limits;
  return `the plan "${plan.slug}" allows ${maxAgents} ${maxAgents === 1 ? "agent" : "agents"}`;
}

const NOR_FALLBACKS = ", and none of its fallbacks can be used";

function slotOf(agent: AgentVendorChoice, category: Category): Slot {
  const slot = slotsOf(agent).find((each) => each.category === category);
  if (slot === undefined) throw new Error(`an agent has no ${category}`);
  return slot;
}

/** The agent's fallbacks, its voices for other languages, and the LLM of its analysis. */
function allFallbacksOf({ fallbacks, analysis, ttsConfig }: AgentVendorChoice): readonly Slot[] {
  const slots = [
    ...CATEGORIES.flatMap((category) => fallbackSlots(fallbacks, category)),
    ...languageVoiceSlots(ttsConfig.languageVoices),
  ];
  const analyst = analysisSlot(analysis);
  return analyst === undefined ? slots : [...slots, analyst];
}

function analysisSlot(analysis: AgentVendorChoice["analysis"]): Slot | undefined {
  const { llmProviderId: providerId = null, llmModelId: modelId = null } = analysis ?? {};
  if (providerId === null || modelId === null) return undefined;
  return {
    category: "llm",
    providerPath: "analysis.llmProviderId",
    providerId,
    modelPath: "analysis.llmModelId",
    modelId,
  };
}

/** Returns the LLM that the agent's analysis names, if the agent may use it now. */
export function usableAnalyst(
  agent: AgentRecord,
  plan: PlanRecord,
  providersById: ProvidersById,
): UsableVendor | undefined {
  const slot = analysisSlot(agent.analysis);
  const provider = slot && visibleProvider(agent.orgId, providersById.get(slot.providerId));
  if (slot?.modelId === undefined || provider?.active !== true) return undefined;
  const isUsable = slotFault(slot, provider) === undefined && isSlotInPlan(plan, slot, provider);
  return isUsable ? { provider, modelId: slot.modelId } : undefined;
}

function slotsOf(agent: AgentVendorChoice): readonly Slot[] {
  return [
    {
      category: "llm",
      providerPath: "llmProviderId",
      providerId: agent.llmProviderId,
      modelPath: "llmModelId",
      modelId: agent.llmModelId,
    },
    {
      category: "tts",
      providerPath: "ttsProviderId",
      providerId: agent.ttsProviderId,
      modelPath: "ttsModelId",
      modelId: agent.ttsModelId,
    },
    {
      category: "stt",
      providerPath: "sttProviderId",
      providerId: agent.sttProviderId,
      modelPath: agent.sttModelId === null ? "sttProviderId" : "sttModelId",
      modelId: agent.sttModelId ?? undefined,
    },
  ];
}

/** Hides the providers of other organizations: a request must not reveal that they exist. */
function visibleProvider(
  orgId: string,
  provider: ProviderRecord | undefined,
): ProviderRecord | undefined {
  return provider?.orgId === null || provider?.orgId === orgId ? provider : undefined;
}

function slotFault(slot: Slot, provider: ProviderRecord | undefined): FieldFault | undefined {
  if (provider === undefined) {
    return { path: slot.providerPath, message: "there is no provider with this id" };
  }
  if (provider.category !== slot.category) {
    const expected = CATEGORY_WORDS[slot.category];
    const actual = CATEGORY_WORDS[provider.category];
    return {
      path: slot.providerPath,
      message: `expected a ${expected} provider, this is a ${actual} provider`,
    };
  }
  const { modelId } = slot;
  if (modelId !== undefined && !provider.models.some((model) => model.modelId === modelId)) {
    return { path: slot.modelPath, message: `"${modelId}" is not a model of "${provider.name}"` };
  }
  return undefined;
}

function providerPause(slot: Slot, provider: ProviderRecord | undefined): string | undefined {
  const words = CATEGORY_WORDS[slot.category];
  if (provider === undefined) return `the ${words} provider is missing`;
  return provider.active ? undefined : `the ${words} provider "${provider.name}" is not active`;
}

function isSlotInPlan(plan: PlanRecord, slot: Slot, provider: ProviderRecord): boolean {
  return isModelAllowed(plan, provider, slot.modelId ?? sttModelId(plan, provider));
}

function outsidePlan(plan: PlanRecord, slot: Slot, provider: ProviderRecord): string {
  const model = modelString(provider, slot.modelId ?? sttModelId(plan, provider));
  return `the model ${model} is not in the plan "${plan.slug}"`;
}

export function modelString(provider: Pick<ProviderRecord, "providerKey">, modelId: string) {
  return `${provider.providerKey}/${modelId}`;
}
