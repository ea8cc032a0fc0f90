import { type FormEvent, useEffect, useRef } from "react";

interface WriteLineProps {
  readonly label: string;
  readonly hint: string;
  readonly text: string;
  readonly isBusy?: boolean;
  /** Takes the focus when it appears. */
  readonly isFocused?: boolean;
  readonly onText: (text: string) => void;
  readonly onSend: () => void;
}

/** One line of words to the agent. */
export function WriteLine(props: WriteLineProps) {
  const { label, hint, text, isBusy = false, isFocused = false, onText, onSend } = props;
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isFocused) input.current?.focus();
  }, [isFocused]);
  const send = (event: FormEvent) => {
    event.preventDefault();
    onSend();
  };
  return (
    <form className="row" onSubmit={send}>
      <input
        ref={input}
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
