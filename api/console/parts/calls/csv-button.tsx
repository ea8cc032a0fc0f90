import { Download } from "lucide-react";

interface CsvButtonProps {
  /** The name that the file is saved under. */
  readonly name: string;
  readonly label: string;
  /** Undefined while there is nothing to be written. */
  readonly text: (() => string) | undefined;
}

/** Saves a table to the reader's disk. */
export function CsvButton({ name, label, text }: CsvButtonProps) {
  return (
    <button
      type="button"
      className="button"
      disabled={text === undefined}
      onClick={() => (text === undefined ? undefined : saveFile(name, "text/csv", text()))}
    >
      <Download size={16} aria-hidden /> {label}
    </button>
  );
}

/** Has the browser save this under a name. */
export function saveFile(name: string, type: string, content: string | Blob): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
