import { useMutation } from "@tanstack/react-query";
import { PhoneCall } from "lucide-react";
import { type FormEvent, useEffect, useState, useSyncExternalStore } from "react";
import { type NewAccount, signIn, signUp } from "../model/accounts.js";
import { ApiError } from "../model/api.js";
import { onSession, signInWith, wasSessionEnded } from "../model/session.js";
import { TextField } from "../parts/forms/field.js";
import { Fault } from "../parts/states.js";

const NOTHING: NewAccount = { name: "", orgName: "", email: "", password: "" };

/** Where somebody was going stays in the address, and is shown as soon as they are in. */
export function SignInPage() {
  const [isNew, setNew] = useState(false);
  const wasEnded = useSyncExternalStore(onSession, wasSessionEnded);
  useEffect(() => {
    document.title = isNew ? "Sign up · Parley" : "Sign in · Parley";
  }, [isNew]);
  return (
    <main className="gate">
      <div className="card stack">
        <p className="brand">
          <PhoneCall size={24} aria-hidden /> Parley
        </p>
        <h1>{isNew ? "Sign up" : "Sign in"}</h1>
        {wasEnded ? (
          <p className="note warn">
            Your session has expired. Sign in to return to where you were.
          </p>
        ) : null}
        <SignInForm key={String(isNew)} isNew={isNew} />
        <button type="button" className="button plain" onClick={() => setNew(!isNew)}>
          {isNew ? "I have an account" : "Create an account"}
        </button>
        {isNew ? null : (
          <p className="soft">
            On a server that was just tried out, the terminal shows an address of this console that
            signs in to the demo organization. Its password is in demo.json of the data folder.
          </p>
        )}
      </div>
    </main>
  );
}

function SignInForm({ isNew }: { isNew: boolean }) {
  const [entries, setEntries] = useState(NOTHING);
  const enter = useMutation({
    mutationFn: () => (isNew ? signUp(entries) : signIn(entries)),
    onSuccess: ({ token }) => signInWith(token),
  });
  const change = (field: keyof NewAccount) => (value: string) =>
    setEntries((before) => ({ ...before, [field]: value }));
  const wrong = (field: keyof NewAccount) =>
    enter.error instanceof ApiError
      ? enter.error.details.find(({ path }) => path === field)?.message
      : undefined;
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    enter.mutate();
  };
  const text = (field: keyof NewAccount, label: string) => ({
    label,
    value: entries[field],
    onChange: change(field),
    wrong: wrong(field),
    required: true,
  });
  const hint = isNew ? { hint: "At least 8 characters." } : {};
  return (
    <form onSubmit={onSubmit}>
      {isNew ? <TextField {...text("name", "Your name")} autoComplete="name" /> : null}
      {isNew ? (
        <TextField {...text("orgName", "Organization")} autoComplete="organization" />
      ) : null}
      <TextField {...text("email", "E-mail")} autoComplete="username" />
      <TextField
        {...text("password", "Password")}
        {...hint}
        type="password"
        autoComplete={isNew ? "new-password" : "current-password"}
      />
      {enter.error === null ? null : (
        <Fault error={enter.error} markedPaths={Object.keys(NOTHING)} />
      )}
      <button type="submit" className="button main" disabled={enter.isPending}>
        {isNew ? "Create the account" : "Sign in"}
      </button>
    </form>
  );
}
