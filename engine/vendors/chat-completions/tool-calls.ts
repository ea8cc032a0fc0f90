import type { ToolCall } from "../contracts.js";
import { unreadable } from "../vendor-json.js";

/** More at once than a caller could want; models that loop have been seen to ask hundreds of times. Later ones are ignored. */
const TOOL_CALLS_MAX = 8;
/** The arguments of one call: a model that writes more than these pages of text does not find its end. */
const TOOL_ARGUMENTS_MAX_BYTES = 16 * 1024;
/** Vendors take no longer names. */
const NAME_MAX_CHARS = 64;
/** Vendors' ids have some 30 characters, but some hide a signature in them. */
const ID_MAX_CHARS = 4_096;

/** A piece of a tool call as it comes in a stream; a text that did not come is empty. */
export interface ToolCallFragment extends ToolCall {
  readonly index: number | undefined;
}

interface OpenCall {
  id: string;
  name: string;
  argumentsJson: string;
  argumentsBytes: number;
}

/** Joins the tool calls of one reply. What goes beyond the limits of one call is thrown as a `badAnswer`. */
export class ToolCalls {
  readonly #vendor: string;
  readonly #calls: OpenCall[] = [];
  readonly #byIndex = new Map<number, OpenCall>();
  #latest: OpenCall | undefined;
  #chars = 0;

  constructor(vendor: string) {
    this.#vendor = vendor;
  }

  /** All that came, for an estimate of what it cost. */
  get chars(): number {
    return this.#chars;
  }

  /** A call that its vendor sends in one piece. */
  addWhole(call: ToolCall): void {
    this.#extend(this.#begin(undefined), call);
  }

  /** Fragments belong together by their index; servers that number all calls alike tell them apart by their ids. */
  addFragment(fragment: ToolCallFragment): void {
    const { index } = fragment;
    const known = index === undefined ? this.#latest : this.#byIndex.get(index);
    this.#extend(begins(fragment, known) ? this.#begin(index) : known, fragment);
  }

  /** Each has a name, an id of its own and arguments that are not empty. */
  finished(): readonly ToolCall[] {
    const ids = new Set<string>();
    return this.#calls.map(({ id, name, argumentsJson }, position) => {
      if (name === "") throw unreadable(this.#vendor);
      const ownId = id === "" || ids.has(id) ? `call_${position + 1}` : id;
      ids.add(ownId);
      return {
        id: ownId,
        name,
        argumentsJson: argumentsJson.trim() === "" ? "{}" : argumentsJson,
      };
    });
  }

  #begin(index: number | undefined): OpenCall | undefined {
    const isRoom = this.#calls.length < TOOL_CALLS_MAX;
    const call = isRoom ? { id: "", name: "", argumentsJson: "", argumentsBytes: 0 } : undefined;
    this.#latest = call;
    if (call !== undefined) this.#calls.push(call);
    if (index === undefined) return call;
    if (call === undefined) this.#byIndex.delete(index);
    else this.#byIndex.set(index, call);
    return call;
  }

  #extend(call: OpenCall | undefined, { id, name, argumentsJson }: ToolCall): void {
    this.#chars += name.length + argumentsJson.length;
    if (call === undefined) return;
    call.id ||= id;
    call.name ||= name;
    call.argumentsJson += argumentsJson;
    call.argumentsBytes += Buffer.byteLength(argumentsJson);
    if (
      call.id.length > ID_MAX_CHARS ||
      call.name.length > NAME_MAX_CHARS ||
      call.argumentsBytes > TOOL_ARGUMENTS_MAX_BYTES
    ) {
      throw unreadable(this.#vendor);
    }
  }
}

function begins({ index, id, name }: ToolCallFragment, known: OpenCall | undefined): boolean {
  if (known === undefined) return index !== undefined || id !== "" || name !== "";
  if (id !== "" && known.id !== "") return id !== known.id;
  return index === undefined && name !== "" && known.name !== "";
}
