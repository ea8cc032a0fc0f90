import type { AgentDraft } from "../model/agent-draft.js";
import { CheckField, SelectField } from "../parts/forms/field.js";
import { NumberField } from "../parts/forms/number-field.js";
import { SETTING_COST_WORDS } from "../words/setting-costs.js";
import type { SectionProps } from "./agent-sections.js";

type Thresholds = AgentDraft["thresholds"];
type NumberKey = Exclude<
  { [Key in keyof Thresholds]: Thresholds[Key] extends number ? Key : never }[keyof Thresholds],
  undefined
>;

const NUMBERS: readonly {
  readonly key: NumberKey;
  readonly label: string;
  readonly hint: string;
  readonly measured?: string;
}[] = [
  {
    key: "endpointingMs",
    label: "Silence after which words count as final, in ms",
    hint: "Every reply waits for it. Lower is quicker and cuts off more callers who only breathe. 10 to 10,000.",
    measured: SETTING_COST_WORDS.endpointingMs,
  },
  {
    key: "silenceTimeoutMs",
    label: "Silence that ends a turn, in ms",
    hint: "Where the recognizer does not say that a sentence is over. 50 to 60,000.",
  },
  {
    key: "patienceMs",
    label: "Patience with an open sentence, in ms",
    hint: "For who dictates a number or says “and …”. 0 to 10,000.",
    measured: SETTING_COST_WORDS.patienceMs,
  },
  {
    key: "waitingWordMs",
    label: "Says that it is at work after, in ms",
    hint: "“One moment.” 0 for never.",
  },
  {
    key: "keypadDigits",
    label: "Keys that make an answer",
    hint: "0 where that varies: then a pause or # ends it. At most 32.",
  },
  {
    key: "maxCallDurationSec",
    label: "Longest call, in seconds",
    hint: "The plan has a limit of its own.",
  },
];

export function TurnSection({ draft, onChange, wrongAt }: SectionProps) {
  const { thresholds } = draft;
  const change = (changed: Partial<Thresholds>) =>
    onChange({ ...draft, thresholds: { ...thresholds, ...changed } });
  return (
    <>
      <div className="grid2">
        {NUMBERS.map(({ key, ...field }) => (
          <NumberField
            key={key}
            {...field}
            value={thresholds[key]}
            onChange={(value) => change({ [key]: value })}
            wrong={wrongAt(`thresholds.${key}`)}
          />
        ))}
      </div>
      <CheckField
        label="Begins the reply before the turn’s end is certain"
        hint="Quicker where the words stay as they are, and some tokens are wasted where the caller goes on."
        measured={SETTING_COST_WORDS.earlyReply}
        value={thresholds.earlyReply}
        onChange={(earlyReply) => change({ earlyReply })}
      />
      <SelectField
        label="How easily the caller interrupts"
        hint="High: any voice stops the agent. Low: it takes words."
        value={thresholds.interruptionSensitivity}
        options={SENSITIVITIES}
        onChange={(value) => {
          const chosen = SENSITIVITIES.find((each) => each.value === value)?.value;
          if (chosen !== undefined) change({ interruptionSensitivity: chosen });
        }}
      />
      <SelectField
        label="“Uh-huh” and “okay” while the agent speaks"
        hint="Ignored, they do not interrupt. Answered, the agent replies when it has spoken."
        value={thresholds.agreementWords}
        options={AGREEMENTS}
        onChange={(value) =>
          change({ agreementWords: value === "answered" ? "answered" : "ignored" })
        }
      />
      <SelectField
        label="A call whose vendors have all failed"
        hint="It ends, or is handed on by the agent’s transfer tool, where the line can."
        value={thresholds.onVendorsLost}
        options={LOST_VENDORS}
        onChange={(value) => change({ onVendorsLost: value === "transfer" ? "transfer" : "end" })}
        wrong={wrongAt("thresholds.onVendorsLost")}
      />
      <SelectField
        label="Speech that the STT returned no words for"
        hint="The agent says that it did not catch that, twice at most until words come."
        value={thresholds.onUnrecognizedSpeech ?? "line"}
        options={UNRECOGNIZED_SPEECH}
        onChange={(value) => {
          const isChosen = value === "ask" || value === "ignore";
          change({ onUnrecognizedSpeech: isChosen ? value : null });
        }}
      />
      <SilenceFields thresholds={thresholds} change={change} wrong={wrongAt} />
    </>
  );
}

interface SilenceFieldsProps {
  readonly thresholds: Thresholds;
  readonly change: (changed: Partial<Thresholds>) => void;
  readonly wrong: (path: string) => string | undefined;
}

const SILENCE_OF_PHONES_MS = 10_000;

function SilenceFields({ thresholds, change, wrong }: SilenceFieldsProps) {
  const { callerSilenceMs } = thresholds;
  return (
    <>
      <CheckField
        label="Asks a silent caller whether somebody is there as the line has it"
        hint="After 10 s on the telephone, and never in a browser."
        value={callerSilenceMs === null}
        onChange={(isUsual) => change({ callerSilenceMs: isUsual ? null : SILENCE_OF_PHONES_MS })}
      />
      {callerSilenceMs === null ? null : (
        <NumberField
          label="Asks after a silence of, in ms"
          hint="0 for never, at most 600,000."
          value={callerSilenceMs}
          onChange={(value) => change({ callerSilenceMs: value })}
          wrong={wrong("thresholds.callerSilenceMs")}
        />
      )}
    </>
  );
}

const SENSITIVITIES = [
  { value: "low", label: "Low" },
  { value: "medium", label: "Medium" },
  { value: "high", label: "High" },
] as const;
const LOST_VENDORS = [
  { value: "end", label: "Ends with an apology" },
  { value: "transfer", label: "Is handed on after an apology" },
] as const;
const UNRECOGNIZED_SPEECH = [
  { value: "line", label: "Asks on the telephone, not in a browser" },
  { value: "ask", label: "Asks the caller to repeat it" },
  { value: "ignore", label: "Ignores it" },
] as const;
const AGREEMENTS = [
  { value: "ignored", label: "Ignored" },
  { value: "answered", label: "Answered" },
] as const;
