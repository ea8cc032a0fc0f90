import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { answered, api, wordsOfFault } from "../model/api.js";
import { newPassword } from "../model/new-password.js";
import { queryClient } from "../model/queries.js";
import { ROLE_WORDS, ROLES, type Role } from "../words/member-words.js";
import { SelectField, TextField } from "./forms/field.js";
import { FormDialog } from "./forms/form-dialog.js";

const OPTIONS = ROLES.map((value) => ({ value, label: ROLE_WORDS[value] }));

const MARKED_PATHS = ["name", "email", "password"];

/** Somebody who is let in from now on, with a password to begin with. */
export function NewMember({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const [password, setPassword] = useState(newPassword);
  const add = useMutation({
    mutationFn: () =>
      answered(api.POST("/api/dashboard/members", { body: { name, email, role, password } })),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ["members"] });
      onClose();
    },
  });
  const wrong = (path: string) => wordsOfFault(add.error, path);
  return (
    <FormDialog
      title="New member"
      action="Add the member"
      isBusy={add.isPending}
      error={add.error}
      markedPaths={MARKED_PATHS}
      onSubmit={() => add.mutate()}
      onClose={onClose}
    >
      <TextField label="Name" value={name} onChange={setName} wrong={wrong("name")} required />
      <TextField
        label="E-mail"
        type="email"
        hint="They sign in with it. Nothing is sent to it."
        value={email}
        onChange={setEmail}
        wrong={wrong("email")}
        autoComplete="off"
        required
      />
      <SelectField
        label="Role"
        hint="Admins may also add and remove members."
        value={role}
        onChange={(value) => setRole(ROLES.find((each) => each === value) ?? "member")}
        options={OPTIONS}
      />
      <TextField
        label="First password"
        hint="Made up just now. Copy it and hand it over yourself: it is not shown again. They can change it here, under Members."
        value={password}
        onChange={setPassword}
        wrong={wrong("password")}
        autoComplete="off"
        required
      />
    </FormDialog>
  );
}
