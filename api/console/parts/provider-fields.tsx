import { ApiError, wordsOfFault } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import type { ProviderDraft } from "../model/provider-draft.js";
import { SelectField, TextField } from "./forms/field.js";

type Entry = Answered<"listRegistry">[number];

interface ProviderFieldsProps {
  readonly entry: Entry;
  readonly draft: ProviderDraft;
  readonly isKeyRequired: boolean;
  readonly keyHint: string;
  /** What the server said to the last try. */
  readonly error: Error | null;
  readonly onChange: (draft: ProviderDraft) => void;
}

const SWITCH = [
  { value: "", label: "As the vendor has it" },
  { value: "true", label: "Yes" },
  { value: "false", label: "No" },
] as const;

function choicesOf(options: readonly string[]) {
  return [SWITCH[0], ...options.map((value) => ({ value, label: value }))];
}

/** What is to be said of a vendor's account. */
export function ProviderFields(props: ProviderFieldsProps) {
  const { entry, draft, isKeyRequired, keyHint, error, onChange } = props;
  const wrongAt = (path: string) => wordsOfFault(error, path);
  return (
    <>
      <TextField
        label="Name"
        value={draft.name}
        onChange={(name) => onChange({ ...draft, name })}
        wrong={wrongAt("name")}
        required
      />
      <TextField
        label="The vendor’s API key"
        hint={keyHint}
        type="password"
        autoComplete="off"
        value={draft.apiKey}
        onChange={(apiKey) => onChange({ ...draft, apiKey })}
        wrong={wrongAt("credentials") ?? wrongAt("credentials.apiKey")}
        required={isKeyRequired}
      />
      {entry.settings.map(({ key, label, type, required, options }) => {
        const field = {
          label,
          value: draft.settings[key] ?? "",
          onChange: (value: string) =>
            onChange({ ...draft, settings: { ...draft.settings, [key]: value } }),
          wrong: wrongAt(`settings.${key}`),
        };
        const choices = type === "boolean" ? SWITCH : choicesOf(options);
        return choices.length > 1 ? (
          <SelectField key={key} {...field} options={choices} />
        ) : (
          <TextField key={key} {...field} required={required} />
        );
      })}
      <TextField
        label="Models"
        hint="One a line: the vendor’s id of the model, then the name that is shown."
        isLong
        value={draft.models}
        onChange={(models) => onChange({ ...draft, models })}
        wrong={wrongAtModels(error)}
      />
    </>
  );
}

/** What is wrong with the list, or with the first of its models that is not right. */
function wrongAtModels(error: Error | null): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  return error.details.find(({ path }) => path.split(".")[0] === "models")?.message;
}
