import type { FormEvent } from "react";

interface WriteLineProps {
  readonly label: string;
  readonly hint: string;
  readonly text: string;
  readonly isBusy?: boolean;
  readonly onText: (text: string) => void;
  readonly onSend: () => void;
}

/** One line of words to the agent. */
export function WriteLine({ label, hint, text, isBusy = false, onText, onSend }: WriteLineProps) {
  const send = (event: FormEvent) => {
    event.preventDefault();
    onSend();
  };
  return (
    <form className="row" onSubmit={send}>
      <input
        aria-label={label}
        placeholder={hint}
        style={{ flex: "1 1 160px", width: "auto" }}
        maxLength={1_000}
        dir="auto"
        value={text}
        onChange={({ target }) => onText(target.value)}
      />
      <button type="submit" className="button main" disabled={isBusy}>
        Send
      </button>
    </form>
  );
}
