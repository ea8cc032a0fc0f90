import { LRUCache } from "lru-cache";
import { sparseCache } from "../../sparse-cache.js";
import { type ApiError, badRequest, notFound } from "./api-error.js";
import type { OutputItem } from "./response-body.js";
import type { ConversationItem, ResponsesRequest } from "./responses-request.js";

/** The oldest are forgotten, which the vendor does after thirty days. */
const RESPONSES_MAX = 1000;
const ITEMS_MAX = 10_000;

interface StoredResponse {
  readonly body: object;
  /** The whole conversation up to the answer, with it. */
  readonly items: readonly ConversationItem[];
}

/** What the vendor keeps, so that a later request names it instead of sending it again. */
export class StoredResponses {
  readonly #responses = new LRUCache<string, StoredResponse>({ max: RESPONSES_MAX });
  readonly #items = sparseCache<string, ConversationItem>(ITEMS_MAX);

  add(
    id: string,
    body: object,
    input: readonly ConversationItem[],
    output: readonly OutputItem[],
  ): void {
    this.#responses.set(id, { body, items: [...input, ...output.map(saidBefore)] });
    for (const item of output) this.#items.set(item.id, saidBefore(item));
  }

  bodyOf(id: string): object | undefined {
    return this.#responses.get(id)?.body;
  }

  /** What a request talks about, with all that it only refers to; or why that cannot be found. */
  resolve({
    input,
    previous_response_id: previousId,
  }: ResponsesRequest): readonly ConversationItem[] | ApiError {
    const previous = previousId == null ? undefined : this.#responses.get(previousId);
    if (previousId != null && previous === undefined) {
      const message = `Previous response with id '${previousId}' not found.`;
      return badRequest(message, "previous_response_id", "previous_response_not_found");
    }
    const before = previous?.items ?? [];
    if (typeof input === "string")
      return [...before, { type: "message", role: "user", content: input }];
    const resolved: ConversationItem[] = [...before];
    for (const item of input) {
      const whole = item.type === "item_reference" ? this.#items.get(item.id) : item;
      if (whole === undefined) return notFound("Item not found.", "input", null);
      resolved.push(whole);
    }
    return resolved;
  }
}

/** An answer as it stands in the conversation that follows. */
function saidBefore(item: OutputItem): ConversationItem {
  if (item.type === "function_call") return item;
  const content = item.content.map(({ text }) => text).join("");
  return { type: "message", role: item.role, content };
}
