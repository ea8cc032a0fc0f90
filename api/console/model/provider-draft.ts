import type { Answered } from "./contract-paths.js";

type Entry = Answered<"listRegistry">[number];
type Provider = Pick<Answered<"getProvider">, "name" | "models" | "settings">;
type Model = Provider["models"][number];
type Setting = Entry["settings"][number];

/** A provider as it is being typed. */
export interface ProviderDraft {
  readonly name: string;
  /** Empty: none, or the stored key, which cannot be read back. */
  readonly apiKey: string;
  /** By the setting's key; empty where the vendor's own value counts. */
  readonly settings: Readonly<Record<string, string>>;
  /** One a line: the vendor's id, and behind it the name that is shown. */
  readonly models: string;
}

/** With all models that the catalogue knows of the vendor. */
export function newProvider({ models }: Entry): ProviderDraft {
  return { name: "", apiKey: "", settings: {}, models: modelLines(models) };
}

export function draftOfProvider(entry: Entry, { name, models, settings }: Provider): ProviderDraft {
  const typed = entry.settings.map(({ key }) => [key, textOf(settings[key])] as const);
  return { name, apiKey: "", settings: Object.fromEntries(typed), models: modelLines(models) };
}

/** What is sent of a draft to make a provider of it; an entry's `category` and `providerKey` go with it. */
export function sentOfDraft(entry: Entry, draft: ProviderDraft) {
  const settings = Object.fromEntries(
    entry.settings.flatMap((setting): (readonly [string, unknown])[] => {
      const typed = draft.settings[setting.key]?.trim() ?? "";
      return typed === "" ? [] : [[setting.key, settingOf(setting, typed)]];
    }),
  );
  return {
    name: draft.name,
    models: modelsOf(draft.models, entry.models),
    settings,
    ...(draft.apiKey === "" ? {} : { credentials: { apiKey: draft.apiKey } }),
  };
}

/** As `sentOfDraft`, to change a provider: a setting that was emptied is taken away. */
export function changesOfProvider(entry: Entry, provider: Provider, draft: ProviderDraft) {
  const sent = sentOfDraft(entry, draft);
  const emptied = entry.settings
    .map(({ key }) => key)
    .filter((key) => provider.settings[key] !== undefined && sent.settings[key] === undefined);
  const removed = Object.fromEntries(emptied.map((key) => [key, null] as const));
  const models = modelsOf(draft.models, [...provider.models, ...entry.models]);
  return { ...sent, models, settings: { ...sent.settings, ...removed } };
}

/** The models that the lines name; what is known of one beside its name stays. */
function modelsOf(lines: string, known: readonly Model[]) {
  return lines
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => {
      const [modelId = "", ...words] = line.split(/\s+/);
      const listed = known.find((model) => model.modelId === modelId);
      const label = words.length > 0 ? words.join(" ") : (listed?.label ?? modelId);
      const about = listed?.description === undefined ? {} : { description: listed.description };
      return { modelId, label, ...about };
    });
}

function modelLines(models: readonly Model[]): string {
  return models
    .map(({ modelId, label }) => (label === modelId ? modelId : `${modelId} ${label}`))
    .join("\n");
}

/** What the vendor's settings take; the server says what is wrong with anything else. */
function settingOf({ type }: Setting, typed: string): unknown {
  if (type === "number") return Number.isNaN(Number(typed)) ? typed : Number(typed);
  if (type === "boolean") return typed === "true";
  return typed;
}

function textOf(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" ? value : "";
}
