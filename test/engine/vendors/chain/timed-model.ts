import type { Clock } from "../../../../engine/time/clock.js";
import {
  type Completion,
  type CompletionRequest,
  type LanguageModel,
  VendorError,
} from "../../../../engine/vendors/contracts.js";

const USAGE = { finishReason: "stop", promptTokens: 100, completionTokens: 20 } as const;

/** Says a word after its delay and another at once, or fails then, or calls a tool, or stops. */
export class TimedModel implements LanguageModel {
  readonly vendor: string;
  readonly #clock: Clock;
  delayMs = 400;
  outcome: "speaks" | "fails" | "usesTool" | "breaksOff" | "stalls" = "speaks";
  /** Its words still arrive after it was aborted. */
  isOverheard = false;
  asked = 0;
  aborted = 0;

  constructor(vendor: string, clock: Clock) {
    this.vendor = vendor;
    this.#clock = clock;
  }

  complete(
    request: CompletionRequest,
    onToken: (text: string) => void,
    signal: AbortSignal,
  ): Promise<Completion> {
    this.asked += 1;
    const { vendor } = this;
    return new Promise((resolve, reject) => {
      const answer = () => {
        if (this.outcome === "stalls") return onToken(`${vendor} `);
        signal.removeEventListener("abort", abort);
        const refuse = () => reject(new VendorError(vendor, "unavailable", "it is down"));
        if (this.outcome === "fails") return refuse();
        if (this.outcome === "usesTool") {
          request.onToolUse?.();
          const toolCalls = [{ id: "1", name: "hangup", argumentsJson: "{}" }];
          return resolve({ ...USAGE, toolCalls });
        }
        onToken(`${vendor} `);
        if (this.outcome === "breaksOff") return refuse();
        onToken("speaks.");
        resolve(USAGE);
      };
      const cancel = this.#clock.after(this.delayMs, answer);
      const abort = () => {
        if (!this.isOverheard) cancel();
        this.aborted += 1;
        reject(new VendorError(vendor, "aborted", "nobody waits"));
      };
      signal.addEventListener("abort", abort, { once: true });
    });
  }

  warm(): void {}
}
