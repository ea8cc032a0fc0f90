import * as v from "valibot";
import type { JsonObject } from "../../../storage/records.js";
import type { OpaqueToolData, ToolCall } from "../contracts.js";
import { unreadable } from "../vendor-json.js";

/**
 * More than a caller could need at once; models that loop have been seen to make hundreds of calls. Later ones are
 * ignored.
 */
const TOOL_CALLS_MAX = 8;
/** The arguments of one call: a model that writes more than these pages of text has lost its way. */
const TOOL_ARGUMENTS_MAX_BYTES = 16 * 1024;
/** Vendors accept no longer names. */
const NAME_MAX_CHARS = 64;
/** Most ids have some 30 characters, but some vendors hide a signature in them. */
const ID_MAX_CHARS = 4_096;

/** Signatures have some kilobytes; longer data is not a signature. */
const OPAQUE_MAX_CHARS = 64 * 1024;

/** A received tool call, with its vendor's own fields. */
export interface ReceivedCall {
  readonly id: string;
  readonly name: string;
  readonly argumentsJson: string;
  readonly ofCall?: JsonObject;
  readonly ofFunction?: JsonObject;
}

/** A fragment of a tool call in a stream; a missing text is empty. */
export interface ToolCallFragment extends ReceivedCall {
  readonly index: number | undefined;
}

/** Reasoning fields of a message, which some vendors require back with the tool calls that followed from it. */
export const thoughtFields = {
  reasoning_content: v.nullish(v.string()),
  reasoning_details: v.nullish(v.array(v.record(v.string(), v.unknown()))),
  extra_content: v.nullish(v.record(v.string(), v.unknown())),
};
type Thoughts = v.InferOutput<v.ObjectSchema<typeof thoughtFields, undefined>>;

interface OpenCall {
  id: string;
  name: string;
  argumentsJson: string;
  argumentsBytes: number;
  ofCall: JsonObject;
  ofFunction: JsonObject;
}

/** Joins the tool calls of one reply. A call beyond the limits throws a `badAnswer`. */
export class ToolCalls {
  readonly #vendor: string;
  readonly #calls: OpenCall[] = [];
  readonly #byIndex = new Map<number, OpenCall>();
  #latest: OpenCall | undefined;
  readonly #origin: string;
  readonly #thoughts = new MessageThoughts();
  #chars = 0;

  /** `origin` identifies the model that may get the vendor's own fields back. */
  constructor(vendor: string, origin: string) {
    this.#vendor = vendor;
    this.#origin = origin;
  }

  /** The size of all received fragments, for an estimate of their cost. */
  get chars(): number {
    return this.#chars;
  }

  /** A call that its vendor sends in one piece. */
  addWhole(call: ReceivedCall): void {
    this.#extend(this.#start(undefined), call);
  }

  addThoughts(thoughts: Thoughts): void {
    this.#thoughts.add(thoughts);
  }

  /** Fragments belong together by their index; if a server numbers all calls alike, their ids distinguish them. */
  addFragment(fragment: ToolCallFragment): void {
    const { index } = fragment;
    const known = index === undefined ? this.#latest : this.#byIndex.get(index);
    this.#extend(begins(fragment, known) ? this.#start(index) : known, fragment);
  }

  /** Each has a name, a unique id and non-empty arguments. */
  finished(): readonly ToolCall[] {
    const ids = new Set<string>();
    return this.#calls.map((call, position) => {
      const { id, name, argumentsJson } = call;
      if (name === "") throw unreadable(this.#vendor);
      const opaque = this.#opaqueOf(call, position === 0);
      const ownId = id === "" || ids.has(id) ? `call_${position + 1}` : id;
      ids.add(ownId);
      return {
        id: ownId,
        name,
        argumentsJson: argumentsJson.trim() === "" ? "{}" : argumentsJson,
        ...(opaque && { opaque }),
      };
    });
  }

  #opaqueOf({ ofCall, ofFunction }: OpenCall, isFirst: boolean): OpaqueToolData | undefined {
    const ofMessage = isFirst ? this.#thoughts.fields : {};
    const parts = [ofCall, ofFunction, ofMessage];
    if (parts.every((part) => Object.keys(part).length === 0)) return undefined;
    if (JSON.stringify(parts).length > OPAQUE_MAX_CHARS * 2) throw unreadable(this.#vendor);
    return { origin: this.#origin, ofCall, ofFunction, ofMessage };
  }

  #start(index: number | undefined): OpenCall | undefined {
    const isRoom = this.#calls.length < TOOL_CALLS_MAX;
    const call = isRoom ? newCall() : undefined;
    this.#latest = call;
    if (call !== undefined) this.#calls.push(call);
    if (index === undefined) return call;
    if (call === undefined) this.#byIndex.delete(index);
    else this.#byIndex.set(index, call);
    return call;
  }

  #extend(
    call: OpenCall | undefined,
    { id, name, argumentsJson, ofCall, ofFunction }: ReceivedCall,
  ): void {
    this.#chars += name.length + argumentsJson.length;
    if (call === undefined) return;
    call.id ||= id;
    call.name ||= name;
    call.argumentsJson += argumentsJson;
    call.argumentsBytes += Buffer.byteLength(argumentsJson);
    call.ofCall = withFields(call.ofCall, ofCall);
    call.ofFunction = withFields(call.ofFunction, ofFunction);
    if (
      call.id.length > ID_MAX_CHARS ||
      call.name.length > NAME_MAX_CHARS ||
      call.argumentsBytes > TOOL_ARGUMENTS_MAX_BYTES
    ) {
      throw unreadable(this.#vendor);
    }
  }
}

/**
 * The reasoning of one message, joined from its fragments. Reasoning beyond the limit is omitted: no vendor
 * requires that much.
 */
class MessageThoughts {
  #content = "";
  readonly #details: JsonObject[] = [];
  #extra: JsonObject = {};
  #chars = 0;

  add({ reasoning_content, reasoning_details, extra_content }: Thoughts): void {
    if (reasoning_content == null && reasoning_details == null && extra_content == null) return;
    if (this.#chars > OPAQUE_MAX_CHARS) return;
    this.#content += reasoning_content ?? "";
    this.#details.push(...(reasoning_details ?? []));
    this.#extra = withFields(this.#extra, extra_content ?? undefined);
    this.#chars = this.#content.length + JSON.stringify([this.#details, this.#extra]).length;
  }

  get fields(): JsonObject {
    if (this.#chars > OPAQUE_MAX_CHARS) return {};
    return {
      ...(this.#content !== "" && { reasoning_content: this.#content }),
      ...(this.#details.length > 0 && { reasoning_details: this.#details }),
      ...(Object.keys(this.#extra).length > 0 && { extra_content: this.#extra }),
    };
  }
}

function newCall(): OpenCall {
  return { id: "", name: "", argumentsJson: "", argumentsBytes: 0, ofCall: {}, ofFunction: {} };
}

/** A field that is only in one of several fragments counts; some vendors send null for a missing one. */
function withFields(fields: JsonObject, more: JsonObject | undefined): JsonObject {
  const given = Object.entries(more ?? {}).filter(([, value]) => value !== null);
  return given.length === 0 ? fields : { ...fields, ...Object.fromEntries(given) };
}

function begins({ index, id, name }: ToolCallFragment, known: OpenCall | undefined): boolean {
  if (known === undefined) return index !== undefined || id !== "" || name !== "";
  if (id !== "" && known.id !== "") return id !== known.id;
  return index === undefined && name !== "" && known.name !== "";
}
