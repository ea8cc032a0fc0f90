import * as v from "valibot";
import type { HistoryMessage } from "../../storage/records.js";
import type { CallerChannel } from "../conversation/caller-channel.js";
import type { Toolbox, ToolOutcome } from "../conversation/toolbox.js";
import type { Clock } from "../time/clock.js";
import type { ToolCall } from "../vendors/contracts.js";

/** What is kept of one turn: eight tools, and of what each was given and answered half a page of text. */
const TOOLS_MAX = 8;
const TEXT_CHARACTERS_MAX = 2_000;
/** The limit for one call, because its record is read as a whole. Later tools are listed by name. */
const CALL_CHARACTERS_MAX = 256_000;
/** Longer than a name can be, but models make names up. */
const NAME_CHARACTERS_MAX = 100;
/** Shorter words of a header are no secrets, and may stand in any answer. */
const SECRET_CHARACTERS_MIN = 8;
export const HIDDEN = "[hidden]";

/** A tool that was at work in a turn, as the record of the turn keeps it. The secrets of headers are hidden in it. */
export interface ToolUse {
  readonly name: string;
  /** The tool's arguments and its result for the LLM; text beyond the limit ends with "…". */
  readonly input: string;
  /** Left out for a tool that was stopped at its work. */
  readonly output?: string;
  /** It has done what it was asked. */
  readonly ok: boolean;
  /** How long it took, or was waited for, to a tenth of a millisecond. */
  readonly ms: number;
}

/** Nothing stands there for a turn without tools. */
export interface TurnTools {
  readonly tools?: readonly ToolUse[];
  /** So many more were used than are kept. */
  readonly moreTools?: number;
}

interface Work {
  readonly call: ToolCall;
  readonly startedAtMs: number;
  ended: { readonly content: string; readonly atMs: number } | undefined;
}

/** The result of a tool that has done what it was asked. */
export const ResultOk = v.pipe(v.string(), v.parseJson(), v.object({ ok: v.literal(true) }));

/** Keeps for one call which tools were at work since it was asked last. */
export class ToolLog {
  readonly #clock: Pick<Clock, "monotonicMs">;
  #works: Work[] = [];
  #omittedCount = 0;
  #secrets: readonly string[] = [];
  #keptCharacters = 0;

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
  }

  /** The same tools, whose work is kept. */
  watch(toolbox: Toolbox): Toolbox {
    this.#secrets = secretWords(toolbox.secrets ?? []);
    return {
      get definitions() {
        return toolbox.definitions;
      },
      run: (call, caller, signal) => this.#run(toolbox, call, caller, signal),
    };
  }

  /** The entries since the last call of this method; running tools then count as stopped. */
  take(): TurnTools {
    const [works, leftOut] = [this.#works, this.#omittedCount];
    this.#works = [];
    this.#omittedCount = 0;
    if (works.length === 0) return {};
    const nowMs = this.#clock.monotonicMs();
    const tools = works.map((work) => this.#bounded(useOf(work, this.#secrets, nowMs)));
    return leftOut === 0 ? { tools } : { tools, moreTools: leftOut };
  }

  /** Messages of the conversation as they may be stored: without the secrets that a service has repeated. */
  withoutSecrets(messages: readonly HistoryMessage[]): readonly HistoryMessage[] {
    return messages.map((message) => {
      const tools = message.tools?.map(({ name, argumentsJson, result }) => ({
        name,
        argumentsJson: masked(argumentsJson, this.#secrets),
        result: masked(result, this.#secrets),
      }));
      return tools === undefined ? message : { ...message, tools };
    });
  }

  #bounded(use: ToolUse): ToolUse {
    const characters = use.input.length + (use.output?.length ?? 0);
    if (this.#keptCharacters + characters > CALL_CHARACTERS_MAX) {
      const { name, ok, ms, output } = use;
      return { name, input: "…", ...(output === undefined ? {} : { output: "…" }), ok, ms };
    }
    this.#keptCharacters += characters;
    return use;
  }

  async #run(
    toolbox: Toolbox,
    call: ToolCall,
    caller: CallerChannel,
    signal: AbortSignal,
  ): Promise<ToolOutcome> {
    const work: Work = { call, startedAtMs: this.#clock.monotonicMs(), ended: undefined };
    if (this.#works.length < TOOLS_MAX) this.#works.push(work);
    else this.#omittedCount += 1;
    const outcome = await toolbox.run(call, caller, signal);
    work.ended = { content: outcome.content, atMs: this.#clock.monotonicMs() };
    return outcome;
  }
}

function useOf(
  { call, startedAtMs, ended }: Work,
  secrets: readonly string[],
  nowMs: number,
): ToolUse {
  const name = shortened(call.name, NAME_CHARACTERS_MAX);
  const use = { name, input: kept(call.argumentsJson, secrets) };
  const ms = Math.round(((ended?.atMs ?? nowMs) - startedAtMs) * 10) / 10;
  if (ended === undefined) return { ...use, ok: false, ms };
  const output = kept(ended.content, secrets);
  return { ...use, output, ok: v.is(ResultOk, ended.content), ms };
}

/** Also the token of `Bearer token`, as a service would repeat it, and as JSON and an address write it; the longest first. */
export function secretWords(secrets: readonly string[]): readonly string[] {
  const words = secrets
    .flatMap((secret) => [secret, ...secret.split(/\s+/)])
    .flatMap((word) => [word, JSON.stringify(word).slice(1, -1), ...inAddress(word)])
    .filter((word) => word.length >= SECRET_CHARACTERS_MIN);
  return [...new Set(words)].sort((one, other) => other.length - one.length);
}

/** In a path, and in a query, which writes a blank as `+`. */
function inAddress(word: string): readonly string[] {
  // Half a character cannot be encoded, nor be in an address.
  const encoded = encodeURIComponent(Buffer.from(word).toString());
  return [encoded, encoded.replaceAll("%20", "+")];
}

function kept(text: string, secrets: readonly string[]): string {
  return shortened(masked(text, secrets), TEXT_CHARACTERS_MAX);
}

/** `secrets` are those of `secretWords`. */
export function masked(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text);
}

function shortened(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  // A character that is cut in two is left out.
  const whole = text.slice(0, charactersMax).replace(/[\ud800-\udbff]$/, "");
  return `${whole}…`;
}
