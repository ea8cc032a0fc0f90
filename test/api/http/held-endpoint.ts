import type { Answer } from "../../../api/http/answer/answer.js";
import type { Endpoint } from "../../../api/http/endpoints/endpoint.js";
import { endpoint, text } from "./edge-on-loopback.js";

/** An endpoint that responds when the test says so. */
export class HeldEndpoint {
  readonly endpoint: Endpoint;
  /** Resolves when a request has arrived. */
  readonly asked: Promise<void>;
  #answer: (answer: Answer) => void = () => undefined;

  constructor() {
    let noteAsked = () => {};
    this.asked = new Promise((resolve) => {
      noteAsked = resolve;
    });
    this.endpoint = endpoint({
      path: "/api/held",
      answer: () =>
        new Promise((resolve) => {
          this.#answer = resolve;
          noteAsked();
        }),
    });
  }

  release(): void {
    this.#answer(text("at last"));
  }
}
