import type { SpokenLanguage } from "./contracts.js";

/** The part of a language tag that names the language without a region, in lower case. */
export function primaryLanguage(tag: string): string {
  return tag.split(/[-_]/, 1)[0]?.toLowerCase() ?? "";
}

export const LANGUAGE_TAG_CHARACTERS_MAX = 35;

/** ISO 639 has codes of two and three letters. BCP 47 reserves longer ones, which are names such as "German". */
const LANGUAGE_CODE = /^[a-z]{2,3}$/;

export function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1 && LANGUAGE_CODE.test(primaryLanguage(tag));
  } catch {
    return false;
  }
}

/** As a vendor names it: by a tag, in upper or lower case. Undefined without a name. */
export function spokenLanguage(
  tag: string | null | undefined,
  confidence?: number | null,
): SpokenLanguage | undefined {
  const code = primaryLanguage(tag?.trim() ?? "");
  if (code === "") return undefined;
  return { code, ...(confidence != null && { confidence }) };
}

/** As a field of a message; nothing where it is not known. */
export function languageField(language: SpokenLanguage | undefined): {
  readonly language?: SpokenLanguage;
} {
  return language === undefined ? {} : { language };
}

/** The language of most of these; the first of those that are equally frequent. */
export function mostSpoken(tags: readonly (string | undefined)[] = []): SpokenLanguage | undefined {
  const counts = new Map<string, number>();
  for (const tag of tags) {
    const code = spokenLanguage(tag)?.code;
    if (code !== undefined) counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  const [most] = [...counts].toSorted(([, one], [, other]) => other - one);
  return most && { code: most[0] };
}
