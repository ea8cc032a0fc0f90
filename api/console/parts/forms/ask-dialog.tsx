import { Fault } from "../states.js";
import { Dialog } from "./dialog.js";

interface AskDialogProps {
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
export function AskDialog(props: AskDialogProps) {
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
