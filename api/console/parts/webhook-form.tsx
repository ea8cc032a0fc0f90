import { useState } from "react";
import { wordsOfFault } from "../model/api.js";
import type { Sent } from "../model/contract-paths.js";
import { EVENT_WORDS, type EventType } from "../words/webhook-words.js";
import { CheckField, TextField } from "./forms/field.js";
import { FormDialog } from "./forms/form-dialog.js";

export interface WebhookDraft extends Sent<"createWebhook"> {
  includeTranscript: boolean;
}

interface WebhookFormProps {
  readonly title: string;
  readonly action: string;
  readonly initial: WebhookDraft;
  readonly isBusy: boolean;
  readonly error: Error | null;
  readonly onSubmit: (draft: WebhookDraft) => void;
  readonly onClose: () => void;
}

const TYPES = Object.keys(EVENT_WORDS).filter(isEventType);
const MARKED = ["name", "url", "eventTypes"];

function isEventType(type: string): type is EventType {
  return type in EVENT_WORDS;
}

/** Where events are sent, and which. */
export function WebhookForm(props: WebhookFormProps) {
  const { title, action, initial, isBusy, error, onSubmit, onClose } = props;
  const [draft, setDraft] = useState(initial);
  const { name, url, eventTypes, includeTranscript } = draft;
  const wrongTypes = wordsOfFault(error, "eventTypes");
  return (
    <FormDialog
      title={title}
      action={action}
      isBusy={isBusy || eventTypes.length === 0}
      error={error}
      markedPaths={MARKED}
      onSubmit={() => onSubmit(draft)}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        onChange={(next) => setDraft({ ...draft, name: next })}
        wrong={wordsOfFault(error, "name")}
        required
      />
      <TextField
        label="URL"
        hint="Gets a signed POST for each event, and acknowledges it with 2xx within 15 s."
        placeholder="https://example.com/webhooks"
        value={url}
        onChange={(next) => setDraft({ ...draft, url: next })}
        wrong={wordsOfFault(error, "url")}
        required
      />
      <fieldset className="stack tight">
        <legend>Events</legend>
        {TYPES.map((type) => (
          <CheckField
            key={type}
            label={type}
            hint={EVENT_WORDS[type]}
            value={eventTypes.includes(type)}
            onChange={(isOn) => {
              const next = TYPES.filter((each) =>
                each === type ? isOn : eventTypes.includes(each),
              );
              setDraft({ ...draft, eventTypes: next });
            }}
          />
        ))}
        {wrongTypes === undefined ? null : <span className="wrong">{wrongTypes}</span>}
      </fieldset>
      <CheckField
        label="Include the transcript"
        hint="In call.ended and call.failed, where it fits into 20 kB."
        value={includeTranscript}
        onChange={(isOn) => setDraft({ ...draft, includeTranscript: isOn })}
      />
    </FormDialog>
  );
}
