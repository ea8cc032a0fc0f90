import { CopyButton } from "../copy-button.js";
import { Dialog } from "./dialog.js";

interface ShownSecretProps {
  readonly title: string;
  readonly secret: string;
  /** What it is for, where its name does not say. */
  readonly about?: string;
  readonly onClose: () => void;
}

/** What the server shows this once. */
export function ShownSecret({ title, secret, about, onClose }: ShownSecretProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>Copy it now. It is never shown again.</p>
      {about === undefined ? null : <p className="soft">{about}</p>}
      <code className="secret">{secret}</code>
      <div className="row end">
        <CopyButton text={secret} />
        <button type="button" className="button main" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
