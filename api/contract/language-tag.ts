import * as v from "valibot";
import {
  isLanguageTag,
  LANGUAGE_TAG_CHARACTERS_MAX,
} from "../../engine/vendors/spoken-language.js";
import { worded } from "./fields.js";

/** A tag as BCP 47 writes them. */
export function languageTag(subject: string) {
  return worded(
    v.pipe(
      v.string(),
      v.maxLength(LANGUAGE_TAG_CHARACTERS_MAX),
      v.check(isLanguageTag),
      v.examples(["de-DE"]),
      v.description(`${subject}, a language tag such as de-DE`),
    ),
  );
}
