import * as v from "valibot";
import {
  type CallOverrides,
  GREETING_OVERRIDE_CHARACTERS_MAX,
  overrideFault,
  PROMPT_OVERRIDE_CHARACTERS_MAX,
  VARIABLE_CHARACTERS_MAX,
  VARIABLE_NAME,
  VARIABLE_NAME_EXPECTED,
  VARIABLE_TEXT_EXPECTED,
  VARIABLES_MAX,
  VOICE_ID,
} from "../../engine/telephony/call-values.js";
import { knownObjectField, textField, worded } from "./fields.js";
import { languageTag } from "./language-tag.js";

/** A refusal names the variable that is wrong. What is null or empty counts as absent. */
export function variablesField(entriesMax = VARIABLES_MAX) {
  return worded(
    v.pipe(
      v.record(
        v.pipe(v.string(), v.regex(VARIABLE_NAME, VARIABLE_NAME_EXPECTED)),
        v.nullable(
          v.pipe(
            v.string(VARIABLE_TEXT_EXPECTED),
            v.maxLength(VARIABLE_CHARACTERS_MAX, VARIABLE_TEXT_EXPECTED),
          ),
        ),
      ),
      v.maxEntries(entriesMax),
      v.transform(withValues),
      v.examples([{ firstName: "Ada" }]),
      v.description(
        `what the agent's texts have in place of {{name}}, an object of at most ${entriesMax} texts of at most ${VARIABLE_CHARACTERS_MAX} characters; null or an empty text is no value`,
      ),
    ),
  );
}

function withValues(given: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      value === null || value.trim() === "" ? [] : [[name, value]],
    ),
  );
}

/** What an agent could not have as its own is no override either. */
function checkedAs<Field extends v.GenericSchema<string, string>>(
  name: keyof CallOverrides,
  field: Field,
) {
  return v.pipe(
    field,
    v.check<string, (issue: { readonly input: string }) => string>(
      (text) => overrideFault(name, text) === undefined,
      ({ input }) => overrideFault(name, input) ?? "",
    ),
    v.description(v.getDescription(field) ?? name),
  );
}

export const overridesField = knownObjectField(
  "what this call has in place of the agent's own, for which the scope dashboard is needed",
  {
    greeting: v.exactOptional(
      checkedAs("greeting", textField("the first sentence", GREETING_OVERRIDE_CHARACTERS_MAX, 1)),
    ),
    systemPrompt: v.exactOptional(
      checkedAs("systemPrompt", textField("the instructions", PROMPT_OVERRIDE_CHARACTERS_MAX, 1)),
    ),
    voice: v.exactOptional(
      worded(
        v.pipe(
          v.string(),
          v.regex(VOICE_ID),
          v.examples(["21m00Tcm4TlvDq8ikWAM"]),
          v.description(
            "the vendor's id of a voice of the agent's TTS provider, 1 to 200 printable ASCII characters",
          ),
        ),
      ),
    ),
    language: v.exactOptional(languageTag("the call's first language")),
  },
);
