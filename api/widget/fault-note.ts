import { asFault, type FaultCode, MICROPHONE_FAULTS } from "../client/call-fault.js";
import { element } from "./element.js";
import { WORDS } from "./widget-words.js";

/** What is wrong at the moment, in words with a way out. */
export class FaultNote {
  readonly #text = element("p", { role: "alert" });
  readonly #retry = element("button", { type: "button" }, WORDS.useMicrophone);
  readonly root = element("div", { class: "fault" }, this.#text, this.#retry);
  /** What is not mended yet, the newest last. */
  readonly #open = new Map<FaultCode, string>();

  constructor(onRetry: () => void) {
    this.#retry.addEventListener("click", onRetry);
    this.clear();
  }

  get isShown(): boolean {
    return this.#open.size > 0;
  }

  /** Whether the agent has no microphone to listen to. */
  get isDeaf(): boolean {
    return [...this.#open.keys()].some((code) => MICROPHONE_FAULTS.has(code));
  }

  show(fault: unknown): void {
    const { code, message } = asFault(fault, "soundFailed", WORDS.unknownFault);
    this.#open.delete(code);
    this.#open.set(
      code,
      MICROPHONE_FAULTS.has(code) ? `${message} ${WORDS.writeInstead}` : message,
    );
    this.#render();
  }

  /** One microphone mends whatever was wrong with another. */
  mended(mended: FaultCode): void {
    const isOfMicrophone = MICROPHONE_FAULTS.has(mended);
    for (const code of this.#open.keys()) {
      if (code === mended || (isOfMicrophone && MICROPHONE_FAULTS.has(code))) {
        this.#open.delete(code);
      }
    }
    this.#render();
  }

  /** The call is over: what was wrong may be read on, and nothing can be done about it. */
  settle(): void {
    this.#retry.hidden = true;
  }

  clear(): void {
    this.#open.clear();
    this.#render();
  }

  #render(): void {
    const [newest] = [...this.#open].slice(-1);
    const text = newest?.[1] ?? "";
    if (this.#text.textContent !== text) this.#text.textContent = text;
    this.#retry.hidden = newest === undefined || !MICROPHONE_FAULTS.has(newest[0]);
    this.root.hidden = newest === undefined;
  }
}
