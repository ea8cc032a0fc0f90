import { useMutation } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { answered, api, wordsOfFault } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import { queryClient, useApiKeys } from "../model/queries.js";
import { ConfirmButton } from "../parts/forms/confirm-dialog.js";
import { CheckField, TextField } from "../parts/forms/field.js";
import { FormDialog } from "../parts/forms/form-dialog.js";
import { ShownSecret } from "../parts/forms/shown-secret.js";
import { Moment } from "../parts/moment.js";
import { Empty, Loaded } from "../parts/states.js";

const MARKED_PATHS = ["name"];

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
    return <ShownSecret title="The new key" secret={make.data.rawKey} onClose={onClose} />;
  }
  return (
    <FormDialog
      title="New key"
      action="Make the key"
      isBusy={make.isPending || scopes.length === 0}
      error={make.error}
      markedPaths={MARKED_PATHS}
      onSubmit={() => make.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="What will use it. The name tells you later what stops when you revoke it."
        value={name}
        onChange={setName}
        wrong={wordsOfFault(make.error, "name")}
        required
      />
      <CheckField
        label="voice"
        hint="Starts calls with your agents, nothing else."
        value={opensVoice}
        onChange={setOpensVoice}
      />
      <CheckField
        label="dashboard"
        hint="Reads and changes everything in this console: agents, calls, transcripts, keys."
        value={opensDashboard}
        onChange={setOpensDashboard}
      />
    </FormDialog>
  );
}

type ApiKey = Answered<"listApiKeys">[number];

export function KeysTab() {
  const keys = useApiKeys();
  const [isMaking, setMaking] = useState(false);
  const button = (
    <button type="button" className="button main" onClick={() => setMaking(true)}>
      <Plus size={16} aria-hidden /> New key
    </button>
  );
  return (
    <>
      <div className="section-head">
        <p className="soft">
          Programs use a key to open calls (voice) or to use the API (dashboard). Never put a key
          into a web page.
        </p>
        {button}
      </div>
      <Loaded query={keys}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No key yet">
              <p>Your own programs and telephone numbers need one. It is shown once.</p>
              {button}
            </Empty>
          ) : (
            <KeyTable keys={all} />
          )
        }
      </Loaded>
      {isMaking ? <NewKey onClose={() => setMaking(false)} /> : null}
    </>
  );
}

function KeyTable({ keys }: { keys: readonly ApiKey[] }) {
  return (
    <div className="table">
      <table>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Last used</th>
            <th scope="col">
              <span className="hidden">Revoke</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id}>
              <td>
                <strong>
                  <bdi className="clamped" title={key.name}>
                    {key.name}
                  </bdi>
                </strong>
                <div className="soft">
                  {key.keyPrefix}…, opens {key.scopes.join(" and ")}
                </div>
              </td>
              <td>{key.lastUsedAt === null ? "never" : <Moment at={key.lastUsedAt} />}</td>
              <td className="number">
                {key.revokedAt === null ? (
                  <RevokeKey apiKey={key} />
                ) : (
                  <span className="soft">
                    revoked <Moment at={key.revokedAt} />
                  </span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RevokeKey({ apiKey: { id, name } }: { apiKey: ApiKey }) {
  return (
    <ConfirmButton
      action="Revoke"
      name={name}
      consequence="Programs that use it are refused from now on. Calls in progress continue."
      keep="Keep it"
      act={() => answered(api.DELETE("/api/dashboard/api-keys/{id}", { params: { path: { id } } }))}
      onDone={() => queryClient.invalidateQueries({ queryKey: ["apiKeys"] })}
    />
  );
}
