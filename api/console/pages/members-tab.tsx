import { useMutation } from "@tanstack/react-query";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { answered, api, wordsOfFault } from "../model/api.js";
import type { Answered, Sent } from "../model/contract-paths.js";
import { newPassword } from "../model/new-password.js";
import { queryClient, useMe, useMembers } from "../model/queries.js";
import { isKnown } from "../model/query-state.js";
import { signInWith } from "../model/session.js";
import { ConfirmButton } from "../parts/forms/confirm-dialog.js";
import { SelectField, TextField } from "../parts/forms/field.js";
import { FormDialog } from "../parts/forms/form-dialog.js";
import { Moment } from "../parts/moment.js";
import { Fault, Loaded, Outline } from "../parts/states.js";
import { ROLE_WORDS, ROLES, type Role } from "../words/member-words.js";

const OPTIONS = ROLES.map((value) => ({ value, label: ROLE_WORDS[value] }));

const MARKED_PATHS = ["name", "email", "password"];

/** Adds a member, with an initial password. */
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
        hint="They sign in with it. No mail is sent."
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
        hint="Generated just now. Copy it and pass it on yourself: it is not shown again. They can change it here, under Members."
        value={password}
        onChange={setPassword}
        wrong={wrong("password")}
        autoComplete="off"
        required
      />
    </FormDialog>
  );
}

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
        <span role="status">{isChanged ? "The password was changed." : ""}</span>
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
        label="Current password"
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
        hint="At least 8 characters. Your other sessions will ask for it."
        value={next}
        onChange={setNext}
        required
      />
    </FormDialog>
  );
}

type Member = Answered<"listMembers">[number];

export function MembersTab() {
  const members = useMembers();
  const me = useMe();
  const [isAdding, setAdding] = useState(false);
  const mayChange = me.data?.user.role === "admin";
  if (!isKnown(members) || !isKnown(me)) return <Outline lines={4} />;
  return (
    <>
      <div className="section-head">
        <p className="soft">
          Members see and change everything in this console. Only admins add and remove members.
        </p>
        {mayChange ? (
          <button type="button" className="button main" onClick={() => setAdding(true)}>
            <UserPlus size={16} aria-hidden /> New member
          </button>
        ) : null}
      </div>
      <Loaded query={members}>
        {(all) => <MemberTable members={all} mayChange={mayChange} ownId={me.data?.user.id} />}
      </Loaded>
      <OwnPassword />
      {isAdding ? <NewMember onClose={() => setAdding(false)} /> : null}
    </>
  );
}

interface MemberTableProps {
  readonly members: readonly Member[];
  readonly mayChange: boolean;
  /** Undefined until it is known. */
  readonly ownId: string | undefined;
}

function MemberTable({ members, mayChange, ownId }: MemberTableProps) {
  return (
    <div className="table">
      <table>
        <thead>
          <tr>
            <th scope="col">Member</th>
            <th scope="col">Role</th>
            <th scope="col" className="spare">
              Since
            </th>
            <th scope="col">
              <span className="hidden">Remove</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {members.map((member) => {
            const isOwn = member.id === ownId;
            const isFixed = !mayChange || member.isOwner || isOwn;
            return (
              <tr key={member.id}>
                <td className="name">
                  <strong>
                    <bdi className="clamped" title={member.name}>
                      {member.name}
                    </bdi>
                  </strong>
                  <div className="soft">
                    {member.email}
                    {isOwn ? ", you" : ""}
                  </div>
                </td>
                <td>{isFixed ? fixedWords(member) : <RoleChoice member={member} />}</td>
                <td className="spare">
                  <Moment at={member.createdAt} />
                </td>
                <td className="number">{isFixed ? null : <RemoveMember member={member} />}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function fixedWords({ role, isOwner }: Member): string {
  return isOwner ? "Owner" : ROLE_WORDS[role];
}

function refreshed() {
  return queryClient.invalidateQueries({ queryKey: ["members"] });
}

function RoleChoice({ member: { id, name, role } }: { member: Member }) {
  const change = useMutation({
    mutationFn: (body: Sent<"changeMemberRole">) => {
      const params = { path: { id } };
      return answered(api.PATCH("/api/dashboard/members/{id}", { params, body }));
    },
    onSettled: refreshed,
  });
  return (
    <>
      <select
        className="chip"
        aria-label={`Role of ${name}`}
        value={change.isPending ? change.variables.role : role}
        disabled={change.isPending}
        onChange={({ target }) => {
          const chosen = ROLES.find((each) => each === target.value);
          if (chosen !== undefined) change.mutate({ role: chosen });
        }}
      >
        {ROLES.map((each) => (
          <option key={each} value={each}>
            {ROLE_WORDS[each]}
          </option>
        ))}
      </select>
      {change.error === null ? null : <Fault error={change.error} />}
    </>
  );
}

function RemoveMember({ member: { id, name } }: { member: Member }) {
  return (
    <ConfirmButton
      action="Remove"
      name={name}
      consequence="They are signed out and cannot sign in again. What they created stays, and API keys that they know stay valid."
      keep="Keep"
      act={() => answered(api.DELETE("/api/dashboard/members/{id}", { params: { path: { id } } }))}
      onDone={refreshed}
    />
  );
}
