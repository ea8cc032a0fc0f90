import { useMutation } from "@tanstack/react-query";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { answered, api } from "../model/api.js";
import type { Answered, Sent } from "../model/contract-paths.js";
import { isKnown } from "../model/known.js";
import { queryClient, useMe, useMembers } from "../model/queries.js";
import { AskDialog } from "../parts/forms/ask-dialog.js";
import { Moment } from "../parts/moment.js";
import { NewMember } from "../parts/new-member.js";
import { OwnPassword } from "../parts/own-password.js";
import { Fault, Loaded, Outline } from "../parts/states.js";
import { ROLE_WORDS, ROLES } from "../words/member-words.js";

type Member = Answered<"listMembers">[number];

export function MembersTab() {
  const members = useMembers();
  const me = useMe();
  const [isAdding, setAdding] = useState(false);
  const mayChange = me.data?.user.role === "admin";
  if (!isKnown(members) || !isKnown(me)) return <Outline lines={4} />;
  return (
    <>
      <div className="row">
        <p className="soft">
          Members see and change all that this console shows. Who belongs to it is for admins to
          say.
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
  const [isAsking, setAsking] = useState(false);
  const remove = useMutation({
    mutationFn: () => {
      const params = { path: { id } };
      return answered(api.DELETE("/api/dashboard/members/{id}", { params }));
    },
    onSuccess: async () => {
      setAsking(false);
      await refreshed();
    },
  });
  return (
    <>
      <button
        type="button"
        className="button"
        aria-label={`Remove ${name}`}
        onClick={() => setAsking(true)}
      >
        Remove
      </button>
      {isAsking ? (
        <AskDialog
          title={`Remove ${name}?`}
          consequence="They are signed out and cannot sign in again. What they made stays, and so do keys that they know."
          keep="Keep"
          action="Remove"
          isBusy={remove.isPending}
          error={remove.error}
          onKeep={() => setAsking(false)}
          onAct={() => remove.mutate()}
        />
      ) : null}
    </>
  );
}
