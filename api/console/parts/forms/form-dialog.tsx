import { type ReactNode, useRef } from "react";
import { Fault } from "../states.js";
import { Dialog } from "./dialog.js";
import { useFocusOnFault } from "./focus-on-fault.js";

interface FormDialogProps {
  readonly title: string;
  /** What the main button does, in words. */
  readonly action: string;
  readonly isBusy: boolean;
  readonly error: Error | null;
  /** Fields that say themselves what is wrong with them. */
  readonly markedPaths?: readonly string[];
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Asks for what is needed to make something new. */
export function FormDialog(props: FormDialogProps) {
  const { title, action, isBusy, error, markedPaths = [], onSubmit, onClose, children } = props;
  const form = useRef<HTMLFormElement>(null);
  useFocusOnFault(form, error);
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        ref={form}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        {children}
        {error === null ? null : <Fault error={error} markedPaths={markedPaths} />}
        <div className="row end">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button main" disabled={isBusy}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
