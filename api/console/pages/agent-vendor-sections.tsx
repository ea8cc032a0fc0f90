import { useModels } from "../model/queries.js";
import { CheckField, SelectField } from "../parts/forms/field.js";
import { NumberField } from "../parts/forms/number-field.js";
import { faultWords } from "../parts/states.js";
import type { SectionProps } from "./agent-sections.js";

/** The contract's. */
const USUAL_TEMPERATURE = 0.4;

type Category = "llm" | "tts" | "stt";

interface ModelFieldProps {
  readonly category: Category;
  readonly label: string;
  readonly hint?: string;
  readonly providerId: string;
  /** Empty: the provider's first. */
  readonly modelId: string;
  readonly onChange: (providerId: string, modelId: string) => void;
  readonly wrong: string | undefined;
}

const SEPARATOR = " ";

/** Provider and model as one choice; what the plan does not include is named with the plan that does. */
export function ModelField({ category, providerId, modelId, onChange, ...field }: ModelFieldProps) {
  const models = useModels(category);
  const valueOf = (provider: string, model: string) => `${provider}${SEPARATOR}${model}`;
  const options = (models.data?.items ?? []).map((item) => ({
    value: valueOf(item.providerId, item.modelId),
    label: `${item.providerName} · ${item.label}${
      item.allowed ? "" : ` (plan ${item.requiredPlan ?? "of your own"})`
    }`,
  }));
  const value = valueOf(providerId, modelId);
  const isListed = options.some((option) => option.value === value);
  const all = isListed
    ? options
    : [{ value, label: modelId === "" ? "the first that the plan allows" : modelId }, ...options];
  return (
    <SelectField
      {...field}
      wrong={field.wrong ?? (models.error === null ? undefined : faultWords(models.error))}
      value={value}
      options={all}
      onChange={(chosen) => {
        const [provider = "", ...model] = chosen.split(SEPARATOR);
        onChange(provider, model.join(SEPARATOR));
      }}
    />
  );
}

export function VoiceSection({ draft, onChange, wrongAt }: SectionProps) {
  return (
    <>
      <ModelField
        category="tts"
        label="Voice"
        hint="Who speaks. What callers wait for its first sound is shown in the page of each call."
        providerId={draft.ttsProviderId}
        modelId={draft.ttsModelId}
        onChange={(ttsProviderId, ttsModelId) => onChange({ ...draft, ttsProviderId, ttsModelId })}
        wrong={wrongAt("ttsModelId") ?? wrongAt("ttsProviderId")}
      />
      <NumberField
        label="Speed"
        hint="1 is the voice’s own. 0.25 to 4; most callers follow 1.1 with ease."
        step={0.05}
        value={draft.ttsConfig.speed}
        onChange={(speed) => onChange({ ...draft, ttsConfig: { speed } })}
        wrong={wrongAt("ttsConfig.speed")}
      />
    </>
  );
}

export function HearingSection({ draft, onChange, wrongAt }: SectionProps) {
  return (
    <ModelField
      category="stt"
      label="Recognizer"
      hint="Who writes down what the caller says. Unless one is chosen, it is the provider’s first that the plan allows."
      providerId={draft.sttProviderId}
      modelId={draft.sttModelId ?? ""}
      onChange={(sttProviderId, sttModelId) => onChange({ ...draft, sttProviderId, sttModelId })}
      wrong={wrongAt("sttModelId") ?? wrongAt("sttProviderId")}
    />
  );
}

export function ThinkingSection({ draft, onChange, wrongAt }: SectionProps) {
  const { llmConfig } = draft;
  return (
    <>
      <ModelField
        category="llm"
        label="Language model"
        hint="Who finds the words. Its first token is most of the wait in many calls."
        providerId={draft.llmProviderId}
        modelId={draft.llmModelId}
        onChange={(llmProviderId, llmModelId) => onChange({ ...draft, llmProviderId, llmModelId })}
        wrong={wrongAt("llmModelId") ?? wrongAt("llmProviderId")}
      />
      <div className="grid2">
        {llmConfig.temperature === null ? null : (
          <NumberField
            label="Temperature"
            hint="0 says the same every time, 2 rambles. 0.4 unless changed."
            step={0.1}
            value={llmConfig.temperature}
            onChange={(temperature) =>
              onChange({ ...draft, llmConfig: { ...llmConfig, temperature } })
            }
            wrong={wrongAt("llmConfig.temperature")}
          />
        )}
        <NumberField
          label="Longest reply, in tokens"
          hint="A reply is cut there. 200 is about three sentences of some length."
          value={llmConfig.maxTokens}
          onChange={(maxTokens) => onChange({ ...draft, llmConfig: { ...llmConfig, maxTokens } })}
          wrong={wrongAt("llmConfig.maxTokens")}
        />
      </div>
      <CheckField
        label="Send no temperature"
        hint="For models that refuse any, such as Claude 5."
        value={llmConfig.temperature === null}
        onChange={(isLeftOut) =>
          onChange({
            ...draft,
            llmConfig: { ...llmConfig, temperature: isLeftOut ? null : USUAL_TEMPERATURE },
          })
        }
      />
    </>
  );
}
