import { CheckField, TextField } from "../parts/forms/field.js";
import { NumberField } from "../parts/forms/number-field.js";
import type { SectionProps } from "./agent-sections.js";

export function PersonaSection({ draft, onChange, wrongAt }: SectionProps) {
  const { persona } = draft;
  const words = (field: keyof typeof persona) => ({
    value: persona[field],
    onChange: (value: string) => onChange({ ...draft, persona: { ...persona, [field]: value } }),
    wrong: wrongAt(`persona.${field}`),
  });
  return (
    <>
      <TextField
        label="Name"
        hint="For you and your colleagues."
        value={draft.name}
        onChange={(name) => onChange({ ...draft, name })}
        wrong={wrongAt("name")}
      />
      <CheckField
        label="Takes calls"
        hint="Switched off, callers are refused; calls in progress go on."
        value={draft.active}
        onChange={(active) => onChange({ ...draft, active })}
      />
      <TextField
        label="Public at these sites"
        hint="Pages of these origins may talk to it without a token, such as https://shop.example.com, with blanks between. Empty: none."
        value={draft.publicOrigins.join(" ")}
        onChange={(text) =>
          onChange({ ...draft, publicOrigins: text === "" ? [] : text.split(" ") })
        }
        wrong={wrongAt("publicOrigins")}
      />
      <TextField
        label="First sentence"
        hint="Said when the call is answered. It is made before, so callers do not wait for it. Empty: the caller speaks first."
        {...words("greeting")}
      />
      <TextField
        label="Instructions"
        hint="What the agent is for and what it knows. Every thousand words cost the model some time at each turn."
        isLong
        {...words("systemPrompt")}
      />
      <TextField label="Manner" hint="How it speaks, in a few words." {...words("personality")} />
      <TextField
        label="Rules of every answer"
        hint="Short answers are heard to their end. Lists and symbols cannot be spoken."
        isLong
        {...words("guardrails")}
      />
      <TextField
        label="Language"
        hint="Of the caller, as a tag such as en-US or de-DE."
        {...words("language")}
      />
      <TextField
        label="Time zone"
        hint="Such as Europe/Berlin: the model is told date and time there."
        {...words("timeZone")}
      />
    </>
  );
}

export function RecordingSection({ draft, onChange, wrongAt }: SectionProps) {
  const { recording } = draft;
  return (
    <>
      <CheckField
        label="Record calls"
        hint="Both voices, each on its own track. In many places callers have to be told: say so in the first sentence."
        value={recording.enabled}
        onChange={(enabled) => onChange({ ...draft, recording: { ...recording, enabled } })}
      />
      <NumberField
        label="Kept for, in days"
        hint="After that a recording is deleted. 1 to 3,650."
        value={recording.retentionDays}
        onChange={(retentionDays) =>
          onChange({ ...draft, recording: { ...recording, retentionDays } })
        }
        wrong={wrongAt("recording.retentionDays")}
      />
    </>
  );
}
