import type {
  Completion,
  CompletionRequest,
  LanguageModel,
} from "../../engine/vendors/contracts.js";
import { VendorError } from "../../engine/vendors/contracts.js";

/** Says what a test has it say, when it says so. */
export class ScriptedLanguageModel implements LanguageModel {
  readonly requests: CompletionRequest[] = [];
  readonly signals: AbortSignal[] = [];
  #say: (text: string) => void = () => undefined;
  #finish: (completion: Completion) => void = () => undefined;
  #fail: (error: Error) => void = () => undefined;

  complete(
    request: CompletionRequest,
    onToken: (text: string) => void,
    signal: AbortSignal,
  ): Promise<Completion> {
    this.requests.push(request);
    this.signals.push(signal);
    this.#say = onToken;
    return new Promise((resolve, reject) => {
      this.#finish = resolve;
      this.#fail = reject;
      const abort = () => reject(new VendorError("scripted", "aborted", "scripted: aborted"));
      if (signal.aborted) abort();
      signal.addEventListener("abort", abort);
    });
  }

  say(text: string): void {
    this.#say(text);
  }

  finish(completion: Completion): void {
    this.#finish(completion);
  }

  fail(error: Error): void {
    this.#fail(error);
  }

  warm(): void {}
}
