import { useMutation } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { ApiFault, answered, api } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import { queryClient } from "../model/queries.js";
import { SelectField, TextField } from "./field.js";
import { FormDialog } from "./form-dialog.js";

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

const KINDS = { llm: "thinks", tts: "speaks", stt: "listens" } as const;

interface ProviderFormProps {
  readonly entries: readonly Entry[];
  readonly onClose: () => void;
}

function ProviderForm({ entries, onClose }: ProviderFormProps) {
  const [at, setAt] = useState(0);
  const [name, setName] = useState("");
  const [apiKey, setApiKey] = useState("");
  const entry = entries[at];
  const add = useMutation({
    mutationFn: (chosen: Entry) => addProvider(chosen, name, apiKey),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ["providers"] });
      await queryClient.invalidateQueries({ queryKey: ["models"] });
      onClose();
    },
  });
  const details = add.error instanceof ApiFault ? add.error.details : [];
  const wrongAt = (path: string) => details.find((each) => each.path === path)?.message;
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
        onChange={(value) => setAt(Number(value))}
        options={entries.map(({ displayName, category }, index) => ({
          value: String(index),
          label: `${displayName} (${KINDS[category]})`,
        }))}
      />
      <TextField label="Name" value={name} onChange={setName} wrong={wrongAt("name")} required />
      {entry?.requiresKey === true ? (
        <TextField
          label="The vendor’s API key"
          hint="Sealed when it is stored, and never shown again."
          type="password"
          autoComplete="off"
          value={apiKey}
          onChange={setApiKey}
          wrong={wrongAt("credentials")}
          required
        />
      ) : null}
    </FormDialog>
  );
}

/** With all models that the catalogue knows of the vendor. */
function addProvider({ category, providerKey, models }: Entry, name: string, apiKey: string) {
  const credentials = apiKey === "" ? {} : { credentials: { apiKey } };
  const listed = models.map(({ modelId, label }) => ({ modelId, label }));
  const body = { category, providerKey, name, models: listed, ...credentials };
  return answered(api.POST("/api/dashboard/providers", { body }));
}
