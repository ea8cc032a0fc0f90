import { useMutation } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { answered, api } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import { newProvider, type ProviderDraft, sentOfDraft } from "../model/provider-draft.js";
import { providersChanged } from "../model/queries.js";
import { KIND_WORDS } from "../words/provider-words.js";
import { SelectField } from "./forms/field.js";
import { FormDialog } from "./forms/form-dialog.js";
import { ProviderFields } from "./provider-fields.js";

type Entry = Answered<"listRegistry">[number];

export function NewProvider({ entries }: { entries: readonly Entry[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="button main"
        disabled={entries.length === 0}
        onClick={() => setOpen(true)}
      >
        <Plus size={16} aria-hidden /> Own account
      </button>
      {isOpen ? <ProviderForm entries={entries} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

const KEY_HINT = "Sealed when it is stored, and never shown again.";
const NO_DRAFT: ProviderDraft = { name: "", apiKey: "", settings: {}, models: "" };

interface ProviderFormProps {
  readonly entries: readonly Entry[];
  readonly onClose: () => void;
}

function ProviderForm({ entries, onClose }: ProviderFormProps) {
  const [at, setAt] = useState(0);
  const entry = entries[at];
  const [draft, setDraft] = useState(() => draftFor(entry));
  const add = useMutation({
    mutationFn: (chosen: Entry) => addProvider(chosen, draft),
    onSuccess: async () => {
      await providersChanged();
      onClose();
    },
  });
  const choose = (value: string) => {
    const index = Number(value);
    setAt(index);
    // What a person has typed of the account is for the vendor that it was typed for, but for its name.
    setDraft({ ...draftFor(entries[index]), name: draft.name });
    add.reset();
  };
  return (
    <FormDialog
      title="A vendor’s account of your own"
      action="Add the provider"
      isBusy={add.isPending}
      error={add.error}
      onSubmit={() => {
        if (entry !== undefined) add.mutate(entry);
      }}
      onClose={onClose}
    >
      <SelectField
        label="Vendor"
        value={String(at)}
        onChange={choose}
        options={entries.map(({ displayName, category }, index) => ({
          value: String(index),
          label: `${displayName} (${KIND_WORDS[category]})`,
        }))}
      />
      {entry === undefined ? null : (
        <ProviderFields
          entry={entry}
          draft={draft}
          isKeyRequired={entry.requiresKey}
          keyHint={
            entry.requiresKey ? KEY_HINT : `Empty where its server asks for none. ${KEY_HINT}`
          }
          error={add.error}
          onChange={setDraft}
        />
      )}
    </FormDialog>
  );
}

function draftFor(entry: Entry | undefined): ProviderDraft {
  return entry === undefined ? NO_DRAFT : newProvider(entry);
}

function addProvider(entry: Entry, draft: ProviderDraft) {
  const { category, providerKey } = entry;
  const body = { category, providerKey, ...sentOfDraft(entry, draft) };
  return answered(api.POST("/api/dashboard/providers", { body }));
}
