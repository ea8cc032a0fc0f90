import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Fault } from "../states.js";
import { Dialog } from "./dialog.js";

interface ConfirmDialogProps {
  readonly title: string;
  /** What comes of it. */
  readonly consequence: string;
  readonly keep: string;
  readonly action: string;
  readonly isBusy?: boolean;
  readonly error?: Error | null;
  readonly onKeep: () => void;
  readonly onAct: () => void;
}

/** Asks before something is lost. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, consequence, keep, action, isBusy = false, error = null, onKeep, onAct } = props;
  return (
    <Dialog title={title} onClose={onKeep}>
      <p>{consequence}</p>
      {error === null ? null : <Fault error={error} />}
      <div className="row end">
        <button type="button" className="button" onClick={onKeep}>
          {keep}
        </button>
        <button type="button" className="button fault" disabled={isBusy} onClick={onAct}>
          {action}
        </button>
      </div>
    </Dialog>
  );
}

interface ConfirmButtonProps {
  /** What the button does, such as "Delete". */
  readonly action: string;
  /** What it does that to. */
  readonly name: string;
  readonly consequence: string;
  readonly keep: string;
  readonly act: () => Promise<unknown>;
  /** After it was done, when the dialog is closed. */
  readonly onDone: () => Promise<unknown>;
}

/** A button of a list's row that asks before it takes something away. */
export function ConfirmButton({
  action,
  name,
  consequence,
  keep,
  act,
  onDone,
}: ConfirmButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const doing = useMutation({
    mutationFn: act,
    onSuccess: async () => {
      setAsking(false);
      await onDone();
    },
  });
  return (
    <>
      <button
        type="button"
        className="button"
        aria-label={`${action} ${name}`}
        onClick={() => setAsking(true)}
      >
        {action}
      </button>
      {isAsking ? (
        <ConfirmDialog
          title={`${action} ${name}?`}
          consequence={consequence}
          keep={keep}
          action={action}
          isBusy={doing.isPending}
          error={doing.error}
          onKeep={() => setAsking(false)}
          onAct={() => doing.mutate()}
        />
      ) : null}
    </>
  );
}
