import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { answered, api } from "../model/api.js";
import { queryClient } from "../model/queries.js";
import { CopyButton } from "./copy-button.js";
import { Dialog } from "./forms/dialog.js";
import { CheckField, TextField } from "./forms/field.js";
import { FormDialog } from "./forms/form-dialog.js";

/** Made, then shown this once. */
export function NewKey({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [opensVoice, setOpensVoice] = useState(true);
  const [opensDashboard, setOpensDashboard] = useState(false);
  const scopes: ("voice" | "dashboard")[] = [
    ...(opensVoice ? (["voice"] as const) : []),
    ...(opensDashboard ? (["dashboard"] as const) : []),
  ];
  const make = useMutation({
    mutationFn: () => answered(api.POST("/api/dashboard/api-keys", { body: { name, scopes } })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["apiKeys"] }),
  });
  if (make.data !== undefined) {
    return <ShownKey rawKey={make.data.rawKey} onClose={onClose} />;
  }
  return (
    <FormDialog
      title="New key"
      action="Make the key"
      isBusy={make.isPending || scopes.length === 0}
      error={make.error}
      onSubmit={() => make.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="What will use it, so that you know later what stops when it is revoked."
        value={name}
        onChange={setName}
        required
      />
      <CheckField
        label="voice"
        hint="Opens calls with your agents, and nothing else."
        value={opensVoice}
        onChange={setOpensVoice}
      />
      <CheckField
        label="dashboard"
        hint="Reads and changes all that this console shows: agents, calls, transcripts, keys."
        value={opensDashboard}
        onChange={setOpensDashboard}
      />
    </FormDialog>
  );
}

function ShownKey({ rawKey, onClose }: { rawKey: string; onClose: () => void }) {
  return (
    <Dialog title="The new key" onClose={onClose}>
      <p>Copy it now. It is not kept here and never shown again.</p>
      <code className="secret">{rawKey}</code>
      <div className="row end">
        <CopyButton text={rawKey} />
        <button type="button" className="button main" onClick={onClose}>
          I have it
        </button>
      </div>
    </Dialog>
  );
}
