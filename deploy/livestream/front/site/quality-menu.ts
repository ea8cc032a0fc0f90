import { make } from "./element.js";
import { AUTOMATIC, type PictureQuality } from "./hls-player.js";

/** A list of qualities; hidden where there is nothing to choose. */
export class QualityMenu {
  readonly #select: HTMLSelectElement;
  #chosenLabel: string | undefined;
  #automatic: HTMLOptionElement | undefined;

  constructor(select: HTMLSelectElement, onChosen: (index: number) => void) {
    this.#select = select;
    select.addEventListener("change", () => {
      const index = Number(select.value);
      this.#chosenLabel =
        index === AUTOMATIC ? undefined : select.selectedOptions[0]?.textContent || undefined;
      onChosen(index);
    });
  }

  /** Gives the index of what the viewer had chosen before, where there is the like again. */
  offer(qualities: readonly PictureQuality[]): number {
    const options = qualities.map(({ index, label }) =>
      make("option", { text: label, attributes: { value: String(index) } }),
    );
    this.#automatic = options[0];
    this.#select.replaceChildren(...options);
    this.#select.hidden = qualities.length < 3;
    const kept = qualities.find(({ label }) => label === this.#chosenLabel)?.index ?? AUTOMATIC;
    this.#select.value = String(kept);
    return kept;
  }

  tellPlayed(label: string | undefined): void {
    if (this.#automatic === undefined) return;
    this.#automatic.textContent = label === undefined ? "Auto" : `Auto (${label})`;
  }
}
