import * as v from "valibot";
import type { Exchange } from "./exchange.js";
import { FaultsPatch } from "./faults.js";
import type { SandboxUrls } from "./sandbox-urls.js";
import type { SandboxContext, Simulator } from "./simulator.js";

/** `/sandbox/…`: the settings and the journal, for tests and benchmarks in other processes. */
export class ControlDesk implements Simulator {
  readonly #context: SandboxContext;
  readonly #countConnections: () => number;
  urls: SandboxUrls | undefined;

  constructor(context: SandboxContext, countConnections: () => number) {
    this.#context = context;
    this.#countConnections = countConnections;
  }

  async handleRequest(exchange: Exchange): Promise<void> {
    const { faults, journal } = this.#context;
    switch (`${exchange.request.method} ${exchange.url.pathname}`) {
      case "GET /":
        exchange.answerJson(200, { urls: this.urls, openConnections: this.#countConnections() });
        return;
      case "GET /faults":
        exchange.answerJson(200, faults);
        return;
      case "PUT /faults":
        await this.#change(exchange);
        return;
      case "GET /journal":
        exchange.answerJson(200, journal.entries);
        return;
      case "DELETE /journal":
        journal.clear();
        exchange.answerJson(200, { success: true });
        return;
      default:
        exchange.answerJson(404, { error: "faults or journal?" });
    }
  }

  async #change(exchange: Exchange): Promise<void> {
    const patch = v.safeParse(FaultsPatch, await exchange.readJson());
    if (!patch.success) {
      const [issue] = patch.issues;
      exchange.answerJson(400, { error: `${v.getDotPath(issue) ?? "body"}: ${issue.message}` });
      return;
    }
    Object.assign(this.#context.faults, patch.output);
    exchange.answerJson(200, this.#context.faults);
  }
}
