import { useState } from "react";

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, where there are several. */
  readonly what?: string;
  readonly label?: string;
}

export function CopyButton({ text, what = "", label = "Copy" }: CopyButtonProps) {
  const [state, setState] = useState(label);
  const copy = async () =>
    setState((await isCopied(text)) ? "Copied" : "Select it and copy it by hand");
  return (
    <button
      type="button"
      className="button"
      aria-label={what === "" ? state : `${state}: ${what}`}
      onClick={() => void copy()}
    >
      {state}
    </button>
  );
}

/** A browser refuses it where the page did not come by `https:`, and where somebody has forbidden it. */
async function isCopied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
