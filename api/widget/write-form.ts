import { element } from "./element.js";
import { WORDS } from "./widget-words.js";

/** As many as the server takes at once. */
const CHARACTERS_MAX = 1_000;

/** Words to the agent in place of spoken ones. */
export class WriteForm {
  readonly #field = element("input", {
    type: "text",
    maxlength: String(CHARACTERS_MAX),
    "aria-label": WORDS.write,
    placeholder: WORDS.write,
    autocomplete: "off",
    enterkeyhint: "send",
    dir: "auto",
  });
  readonly root = element(
    "form",
    {},
    this.#field,
    element("button", { type: "submit" }, WORDS.send),
  );

  /** `write` answers whether the words were sent; else they stay. */
  constructor(write: (text: string) => boolean) {
    this.root.addEventListener("submit", (event) => {
      event.preventDefault();
      if (write(this.#field.value)) this.#field.value = "";
    });
  }

  focus(): void {
    this.#field.focus();
  }
}
