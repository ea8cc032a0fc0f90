import type { ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { useMe } from "../model/queries.js";
import { signOut } from "../model/session.js";
import { Fault, Outline } from "./states.js";

/** An organization that was not let in yet sees what it waits for, and nothing else; an operator may look after the platform. */
export function PendingGate({ children }: { children: ReactNode }) {
  const me = useMe();
  const [location] = useLocation();
  const isOperator = me.data?.isOperator === true;
  if (me.data?.status === "active") return children;
  if (isOperator && location.startsWith("/platform")) return children;
  return (
    <main className="gate">
      <div className="card stack">
        {me.data === undefined ? null : (
          <>
            <h1>Almost there</h1>
            <p>
              {me.data.organization.name} waits to be activated by the people who run this server.
              On a server of your own, one command does it:
            </p>
            <code className="secret">npm run admin -- org activate {me.data.user.email}</code>
            <button type="button" className="button main" onClick={() => void me.refetch()}>
              Look again
            </button>
          </>
        )}
        {me.data === undefined && me.error === null ? <Outline lines={3} /> : null}
        {me.error === null ? null : <Fault error={me.error} retry={me.refetch} />}
        {isOperator ? (
          <Link className="button" href="/platform">
            Look after the platform
          </Link>
        ) : null}
        <button type="button" className="button plain" onClick={signOut}>
          Sign out
        </button>
      </div>
    </main>
  );
}
