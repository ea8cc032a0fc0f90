/** A voice for each language that an agent may name without naming a voice; by locale first, then by language. */
const VOICES: Readonly<Record<string, string>> = {
  ar: "ar-SA-ZariyahNeural",
  cs: "cs-CZ-VlastaNeural",
  da: "da-DK-ChristelNeural",
  de: "de-DE-KatjaNeural",
  el: "el-GR-AthinaNeural",
  en: "en-US-AriaNeural",
  "en-AU": "en-AU-NatashaNeural",
  "en-GB": "en-GB-SoniaNeural",
  "en-IN": "en-IN-NeerjaNeural",
  es: "es-ES-ElviraNeural",
  "es-MX": "es-MX-DaliaNeural",
  fi: "fi-FI-NooraNeural",
  fr: "fr-FR-DeniseNeural",
  "fr-CA": "fr-CA-SylvieNeural",
  he: "he-IL-HilaNeural",
  hi: "hi-IN-SwaraNeural",
  hu: "hu-HU-NoemiNeural",
  id: "id-ID-GadisNeural",
  it: "it-IT-ElsaNeural",
  ja: "ja-JP-NanamiNeural",
  ko: "ko-KR-SunHiNeural",
  nb: "nb-NO-PernilleNeural",
  nl: "nl-NL-ColetteNeural",
  pl: "pl-PL-ZofiaNeural",
  pt: "pt-BR-FranciscaNeural",
  "pt-PT": "pt-PT-RaquelNeural",
  ro: "ro-RO-AlinaNeural",
  ru: "ru-RU-SvetlanaNeural",
  sv: "sv-SE-SofieNeural",
  th: "th-TH-PremwadeeNeural",
  tr: "tr-TR-EmelNeural",
  uk: "uk-UA-PolinaNeural",
  vi: "vi-VN-HoaiMyNeural",
  zh: "zh-CN-XiaoxiaoNeural",
};

const FALLBACK_VOICE = "en-US-AriaNeural";

const VOICE_NAME = /^[a-z]{2,3}-[A-Za-z-]+Neural$/;

/** The model when it is a voice's name, else the configured voice, else one that speaks the language. */
export function edgeVoice(
  modelId: string,
  configured: string | undefined,
  language: string,
): string {
  if (VOICE_NAME.test(modelId)) return modelId;
  if (configured !== undefined) return configured;
  return VOICES[language] ?? VOICES[language.split("-", 1)[0] ?? ""] ?? FALLBACK_VOICE;
}
