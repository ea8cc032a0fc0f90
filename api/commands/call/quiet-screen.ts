import type { Terminal } from "../terminal.js";
import type { CallReport, Display } from "./display.js";
import { printTurns } from "./turn-table.js";

/** Nothing but the table of the turns. */
export class QuietScreen implements Display {
  readonly #terminal: Terminal;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  dialled(): void {}

  received(): void {}

  vendorSaid(): void {}

  speaking(): void {}

  fellSilent(): void {}

  turnOver(): void {}

  ended(report: CallReport): void {
    printTurns(this.#terminal, report);
  }
}
