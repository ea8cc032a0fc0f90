import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { answered, api } from "../model/api.js";
import { useMe } from "../model/queries.js";
import { signInWith } from "../model/session.js";
import { ROLE_WORDS } from "../words/member-words.js";
import { TextField } from "./forms/field.js";
import { FormDialog } from "./forms/form-dialog.js";
import { Loaded } from "./states.js";

/** Who is signed in, and the way to another password. */
export function OwnPassword() {
  const me = useMe();
  const [isChanging, setChanging] = useState(false);
  const [isChanged, setChanged] = useState(false);
  return (
    <section className="card stack">
      <h2>You</h2>
      <Loaded query={me}>
        {({ user }) => (
          <p className="name">
            <bdi>{user.name}</bdi>, {user.email}, {ROLE_WORDS[user.role].toLowerCase()}
          </p>
        )}
      </Loaded>
      <div className="row">
        <button type="button" className="button" onClick={() => setChanging(true)}>
          Change my password
        </button>
        <span role="status">{isChanged ? "The new password holds from now on." : ""}</span>
      </div>
      {isChanging ? (
        <PasswordDialog
          onClose={() => setChanging(false)}
          onChanged={() => {
            setChanging(false);
            setChanged(true);
          }}
        />
      ) : null}
    </section>
  );
}

interface PasswordDialogProps {
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

function PasswordDialog({ onClose, onChanged }: PasswordDialogProps) {
  const [password, setPassword] = useState("");
  const [next, setNext] = useState("");
  const change = useMutation({
    mutationFn: () =>
      answered(api.POST("/api/auth/password", { body: { password, newPassword: next } })),
    onSuccess: ({ token }) => {
      signInWith(token);
      onChanged();
    },
  });
  return (
    <FormDialog
      title="Change my password"
      action="Change it"
      isBusy={change.isPending}
      error={change.error}
      onSubmit={() => change.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Password of now"
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
        required
      />
      <TextField
        label="New password"
        type="password"
        autoComplete="new-password"
        hint="At least 8 characters. Wherever else you are signed in, you are asked for it."
        value={next}
        onChange={setNext}
        required
      />
    </FormDialog>
  );
}
