import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { areSingleKeysOn } from "../model/single-keys.js";
import { Dialog } from "./forms/dialog.js";

const KEYS = [
  ["/", "search or filter"],
  ["j", "next row"],
  ["k", "row before"],
  ["t", "talk"],
  ["?", "this help"],
] as const;

/** Single keys, wherever nothing is being typed, unless the person has switched them off. */
export function Keyboard() {
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [, navigate] = useLocation();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (!areSingleKeysOn()) return;
      if (event.key === "?") setHelpOpen(true);
      else if (event.key === "t") navigate("/talk");
      else if (event.key === "j") focusRow(1);
      else if (event.key === "k") focusRow(-1);
      else if (event.key === "/") document.querySelector<HTMLElement>("[data-search]")?.focus();
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [navigate]);
  if (!isHelpOpen) return null;
  return (
    <Dialog title="Keys" onClose={() => setHelpOpen(false)}>
      <ul className="lines">
        {KEYS.map(([key, does]) => (
          <li key={key}>
            <span>{does}</span>
            <kbd>{key}</kbd>
          </li>
        ))}
      </ul>
      <p className="soft">They are switched off in the menu of your account.</p>
      <div className="row end">
        <button type="button" className="button" onClick={() => setHelpOpen(false)}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.closest("input, select, textarea, dialog, [contenteditable]") !== null;
}

/** Rows are links or buttons that say so; the focus is the cursor. */
function focusRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const at = rows.findIndex((row) => row === document.activeElement);
  const next = at === -1 ? (step === 1 ? 0 : rows.length - 1) : at + step;
  rows[next]?.focus();
}
