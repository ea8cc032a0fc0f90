import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { answered, api } from "../model/api.js";
import type { Answered, Sent } from "../model/contract-paths.js";
import { changesOfProvider, draftOfProvider } from "../model/provider-draft.js";
import { providersChanged } from "../model/queries.js";
import type { Provider } from "../words/provider-words.js";
import { AskDialog } from "./forms/ask-dialog.js";
import { CheckField } from "./forms/field.js";
import { FormDialog } from "./forms/form-dialog.js";
import { ProviderFields } from "./provider-fields.js";

type Entry = Answered<"listRegistry">[number];

interface OwnProviderProps {
  readonly provider: Provider;
  /** What the catalogue says of its vendor; undefined until it is known. */
  readonly entry: Entry | undefined;
}

/** What its owners may do with a provider. */
export function OwnProvider({ provider, entry }: OwnProviderProps) {
  const [open, setOpen] = useState<"change" | "delete">();
  const close = () => setOpen(undefined);
  return (
    <div className="row">
      <button
        type="button"
        className="button"
        aria-label={`Change ${provider.name}`}
        disabled={entry === undefined}
        onClick={() => setOpen("change")}
      >
        Change
      </button>
      <button
        type="button"
        className="button fault"
        aria-label={`Delete ${provider.name}`}
        onClick={() => setOpen("delete")}
      >
        Delete
      </button>
      {open === "change" && entry !== undefined ? (
        <ChangeForm provider={provider} entry={entry} onClose={close} />
      ) : null}
      {open === "delete" ? <DeleteDialog provider={provider} onClose={close} /> : null}
    </div>
  );
}

interface ChangeFormProps {
  readonly provider: Provider;
  readonly entry: Entry;
  readonly onClose: () => void;
}

function ChangeForm({ provider, entry, onClose }: ChangeFormProps) {
  const [draft, setDraft] = useState(() => draftOfProvider(entry, provider));
  const [isActive, setActive] = useState(provider.active);
  const change = useMutation({
    mutationFn: (body: Sent<"updateProvider">) => {
      const params = { path: { id: provider._id } };
      return answered(api.PATCH("/api/dashboard/providers/{id}", { params, body }));
    },
    onSuccess: async () => {
      await providersChanged();
      onClose();
    },
  });
  return (
    <FormDialog
      title={`Change ${provider.name}`}
      action="Save"
      isBusy={change.isPending}
      error={change.error}
      onSubmit={() =>
        change.mutate({ ...changesOfProvider(entry, provider, draft), active: isActive })
      }
      onClose={onClose}
    >
      <CheckField
        label="Switched on"
        hint="Switched off, calls that need it turn to the agents’ fallbacks, or are refused."
        value={isActive}
        onChange={setActive}
      />
      <ProviderFields
        entry={entry}
        draft={draft}
        isKeyRequired={false}
        keyHint="Left empty, the one that is stored stays. It is asked for again where the address leads to another server."
        error={change.error}
        onChange={setDraft}
      />
    </FormDialog>
  );
}

function DeleteDialog({ provider, onClose }: Pick<ChangeFormProps, "provider" | "onClose">) {
  const remove = useMutation({
    mutationFn: () => {
      const params = { path: { id: provider._id } };
      return answered(api.DELETE("/api/dashboard/providers/{id}", { params }));
    },
    onSuccess: async () => {
      await providersChanged();
      onClose();
    },
  });
  return (
    <AskDialog
      title={`Delete ${provider.name}?`}
      consequence="Its key is forgotten. A provider that an agent uses cannot be deleted."
      keep="Keep it"
      action="Delete"
      isBusy={remove.isPending}
      error={remove.error}
      onKeep={onClose}
      onAct={() => remove.mutate()}
    />
  );
}
