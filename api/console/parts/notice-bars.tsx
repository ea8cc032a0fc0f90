import { useMutation } from "@tanstack/react-query";
import { useState, useSyncExternalStore } from "react";
import { signIn } from "../model/accounts.js";
import { connection, onConnection } from "../model/connection.js";
import { queryClient, useMe, useReady } from "../model/queries.js";
import { isSessionOver, onSession, signInWith, signOut } from "../model/session.js";
import { TextField } from "./forms/field.js";
import { FormDialog } from "./forms/form-dialog.js";

/** Above every page, what keeps it from being true: no connection, or a session that is over. */
export function NoticeBars() {
  const link = useSyncExternalStore(onConnection, connection);
  const isOver = useSyncExternalStore(onSession, isSessionOver);
  if (link === "offline") {
    return (
      <p className="notice" role="status">
        You are offline. What you typed is kept.
      </p>
    );
  }
  if (link === "unanswered") return <Unanswered />;
  return isOver ? <SessionOver /> : null;
}

/** Asks until there is an answer: a page that asks nothing by itself would not see the server come back. */
function Unanswered() {
  useReady();
  return (
    <p className="notice" role="status">
      The server does not answer. What is shown may be old; what you typed is kept.
    </p>
  );
}

function SessionOver() {
  const [isSigningIn, setSigningIn] = useState(false);
  return (
    <>
      <div className="notice row">
        <span role="alert">Your session is over. What you typed is kept.</span>
        <button type="button" className="button" onClick={() => setSigningIn(true)}>
          Sign in again
        </button>
      </div>
      {isSigningIn ? <SignInAgain onClose={() => setSigningIn(false)} /> : null}
    </>
  );
}

/** The same person goes on with the page; somebody else signs out first. */
function SignInAgain({ onClose }: { onClose: () => void }) {
  const me = useMe();
  const [password, setPassword] = useState("");
  const email = me.data?.user.email ?? "";
  const enter = useMutation({
    mutationFn: () => signIn({ email, password }),
    onSuccess: ({ token }) => {
      signInWith(token);
      void queryClient.invalidateQueries();
    },
  });
  return (
    <FormDialog
      title="Sign in again"
      action="Sign in"
      isBusy={enter.isPending}
      error={enter.error}
      onSubmit={() => enter.mutate()}
      onClose={onClose}
    >
      <p className="name">
        <bdi>{me.data?.user.name}</bdi>, {email}
      </p>
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
        required
      />
      <div>
        <button type="button" className="button plain" onClick={signOut}>
          Somebody else signs in
        </button>
      </div>
    </FormDialog>
  );
}
