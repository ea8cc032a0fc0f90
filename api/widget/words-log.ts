import type { Words } from "../client/call-events.js";
import { element } from "./element.js";
import { WORDS } from "./widget-words.js";

/** A long call is read by nobody in a small panel. */
const LINES_MAX = 200;

/** What is said, line by line. Who cannot see it is read a line when it is final, and no guesses. */
export class WordsLog {
  readonly root = element("div", {
    class: "log",
    role: "log",
    "aria-label": WORDS.log,
    tabindex: "0",
  });
  readonly #lines = new Map<number, HTMLElement>();

  show({ id, speaker, kind, text, unheard }: Words): void {
    const line = this.#lines.get(id) ?? this.#newLine(id);
    const isOpen = kind === "guess" || kind === "said";
    line.className = kind === "guess" ? "guess" : "";
    line.setAttribute("aria-hidden", String(isOpen));
    const parts: (Node | string)[] = [element("b", {}, WORDS[speaker]), text];
    if (unheard !== "") {
      const note = element("span", { class: "quiet" }, ` (${WORDS.unheard}) `);
      parts.push(" ", element("s", {}, note, unheard));
    }
    line.replaceChildren(...parts);
    this.root.scrollTop = this.root.scrollHeight;
  }

  clear(): void {
    this.#lines.clear();
    this.root.replaceChildren();
  }

  #newLine(id: number): HTMLElement {
    const line = element("p", { dir: "auto" });
    this.#lines.set(id, line);
    this.root.append(line);
    for (const [oldest, old] of this.#lines) {
      if (this.#lines.size <= LINES_MAX) break;
      this.#lines.delete(oldest);
      old.remove();
    }
    return line;
  }
}
