import type { LanguageVoice, Persona, ProviderRecord } from "../../../storage/records.js";
import type { FieldFault } from "../../request-error.js";
import { detectedLanguages, modelsThatDetectLanguages } from "../../vendors/model-catalog.js";
import { primaryLanguage } from "../../vendors/spoken-language.js";
import type { FallbackSlot } from "./agent-fallbacks.js";
import type { AgentVendorChoice } from "./agent-input.js";

export function languageVoiceSlots(voices: readonly LanguageVoice[]): readonly FallbackSlot[] {
  return voices.map(({ providerId, modelId }, index) => {
    const path = `ttsConfig.languageVoices.${index}`;
    return {
      category: "tts",
      providerPath: `${path}.providerId`,
      providerId,
      modelPath: `${path}.modelId`,
      modelId,
    };
  });
}

/** Why the agent cannot have these languages with its STT model, or these voices for them. */
export function languageFaults(
  { persona, ttsConfig }: Pick<AgentVendorChoice, "persona" | "ttsConfig">,
  stt: ProviderRecord | undefined,
  sttModelId: string,
): readonly FieldFault[] {
  const { language, languages } = persona;
  const faults = [
    ...repeated([language, ...languages]).map(({ index, tag, earlier }) => ({
      path: `persona.languages.${index - 1}`,
      message: `"${tag}" is the same language as "${earlier}" for an STT`,
    })),
    ...listFaults("ttsConfig.languageVoices", ttsConfig.languageVoices, languages, "a voice"),
    ...listFaults("persona.languageTexts", persona.languageTexts, languages, "texts"),
    ...briefingFaults(persona),
  ];
  if (languages.length === 0 || stt === undefined) return faults;
  return [...faults, ...detectionFaults(language, languages, stt.providerKey, sttModelId)];
}

function briefingFaults({ language, languages, briefingLanguage: tag }: Persona): FieldFault[] {
  if (tag === null || tag === language || languages.includes(tag)) return [];
  const message = `expected persona.language or one of persona.languages, "${tag}" is neither`;
  return [{ path: "persona.briefingLanguage", message }];
}

/** The faults of a list with an entry for some of the agent's languages; `what` names what an entry gives. */
function listFaults(
  path: string,
  entries: readonly { readonly language: string }[],
  languages: readonly string[],
  what: string,
): readonly FieldFault[] {
  const tags = entries.map(({ language }) => language);
  return [
    ...repeated(tags).map(({ index, tag, earlier }) => ({
      path: `${path}.${index}.language`,
      message: `"${tag}" is the same language as "${earlier}", which has ${what}`,
    })),
    ...tags.flatMap((tag, index) => {
      if (languages.includes(tag)) return [];
      const message = `expected one of persona.languages, "${tag}" is none`;
      return [{ path: `${path}.${index}.language`, message }];
    }),
  ];
}

function detectionFaults(
  language: string,
  others: readonly string[],
  vendor: string,
  modelId: string,
): readonly FieldFault[] {
  const known = detectedLanguages(vendor, modelId);
  const model = `${vendor}/${modelId}`;
  if (known === undefined) {
    const can = modelsThatDetectLanguages().join(", ");
    const message = `the STT model ${model} does not tell which language is spoken; these do: ${can}`;
    return [{ path: "persona.languages", message }];
  }
  if (known === "any") return [];
  return [language, ...others].flatMap((tag, index) => {
    if (known.includes(primaryLanguage(tag))) return [];
    const path = index === 0 ? "persona.language" : `persona.languages.${index - 1}`;
    return [
      { path, message: `the STT model ${model} tells only these apart: ${known.join(", ")}` },
    ];
  });
}

/** Tags whose first part is that of an earlier one. */
function repeated(tags: readonly string[]) {
  return tags.flatMap((tag, index) => {
    const earlier = tags
      .slice(0, index)
      .find((each) => primaryLanguage(each) === primaryLanguage(tag));
    return earlier === undefined ? [] : [{ index, tag, earlier }];
  });
}

/** The fields that decide about the faults are the same; an agent with one language has no faults. */
export function sameLanguages(
  one: Pick<AgentVendorChoice, "persona" | "ttsConfig">,
  other: Pick<AgentVendorChoice, "persona" | "ttsConfig">,
): boolean {
  const fieldsOf = ({ persona, ttsConfig }: typeof one) => {
    const { language, languages, briefingLanguage } = persona;
    const { languageVoices } = ttsConfig;
    const texts = persona.languageTexts.map((each) => each.language);
    const isPlain = languages.length + languageVoices.length + texts.length === 0;
    if (isPlain && briefingLanguage === null) return "";
    return JSON.stringify([language, languages, languageVoices, texts, briefingLanguage]);
  };
  return fieldsOf(one) === fieldsOf(other);
}
