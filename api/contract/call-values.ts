import * as v from "valibot";
import {
  GREETING_OVERRIDE_CHARACTERS_MAX,
  LANGUAGE_OVERRIDE_CHARACTERS_MAX,
  PROMPT_OVERRIDE_CHARACTERS_MAX,
  VARIABLE_CHARACTERS_MAX,
  VARIABLE_NAME,
  VARIABLES_MAX,
  VOICE_ID,
} from "../../engine/telephony/call-values.js";
import { knownObjectField, textField, worded } from "./fields.js";

/** A refusal names the variable that is wrong. */
export function variablesField(entriesMax = VARIABLES_MAX) {
  return worded(
    v.pipe(
      v.record(
        v.pipe(v.string(), v.regex(VARIABLE_NAME)),
        v.pipe(v.string(), v.maxLength(VARIABLE_CHARACTERS_MAX)),
      ),
      v.maxEntries(entriesMax),
      v.examples([{ firstName: "Ada" }]),
      v.description(
        `what the agent's texts have in place of {{name}}, an object of at most ${entriesMax} texts of at most ${VARIABLE_CHARACTERS_MAX} characters`,
      ),
    ),
  );
}

export const overridesField = knownObjectField(
  "what this call has in place of the agent's own, for which the scope dashboard is needed",
  {
    greeting: v.exactOptional(textField("the first sentence", GREETING_OVERRIDE_CHARACTERS_MAX)),
    systemPrompt: v.exactOptional(textField("the instructions", PROMPT_OVERRIDE_CHARACTERS_MAX)),
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
    language: v.exactOptional(
      textField("a language tag such as en-US", LANGUAGE_OVERRIDE_CHARACTERS_MAX),
    ),
  },
);
