import { sparseCache } from "../sparse-cache.js";
import type { ParameterCorrection } from "./chat-completions/chat-parameters.js";

/** The number of models kept; the least recently used one is dropped. */
const MODELS_MAX = 1_000;
/** The maximum number of corrections per model: models do not differ in more parameters than this. */
const CORRECTIONS_OF_MODEL_MAX = 8;

/** A provider as of its last change, since its new settings may suit the model. */
export interface ProviderVersion {
  readonly id: string;
  readonly version: number;
}

export interface LearnedCorrection extends ParameterCorrection {
  readonly modelId: string;
  /** Epoch milliseconds at which the model answered with the correction. */
  readonly atMs: number;
}

/** Called once for each correction. */
export type OnLearned = (provider: ProviderVersion, learned: LearnedCorrection) => void;

/**
 * Parameters that models have refused, by provider and model. Each process learns them for itself: another one, or
 * a restarted one, pays one more refusal.
 */
export class LearnedParameters {
  readonly #models = sparseCache<string, readonly LearnedCorrection[]>(MODELS_MAX);
  readonly #onLearned: OnLearned;

  constructor(onLearned: OnLearned = () => undefined) {
    this.#onLearned = onLearned;
  }

  of(provider: ProviderVersion, modelId: string): readonly LearnedCorrection[] {
    return this.#models.get(keyOf(provider, modelId)) ?? [];
  }

  /** The corrections of all models of the provider, in the order in which they were learned. */
  ofProvider(provider: ProviderVersion): readonly LearnedCorrection[] {
    const prefix = keyOf(provider, "");
    const found: LearnedCorrection[] = [];
    for (const [key, learned] of [...this.#models.entries()].toReversed()) {
      if (key.startsWith(prefix)) found.push(...learned);
    }
    return found.toSorted((a, b) => a.atMs - b.atMs);
  }

  add(provider: ProviderVersion, learned: LearnedCorrection): void {
    const known = this.of(provider, learned.modelId);
    if (known.some((each) => isSame(each, learned))) return;
    const others = known.filter(({ parameter }) => parameter !== learned.parameter);
    const kept = [...others, learned].slice(-CORRECTIONS_OF_MODEL_MAX);
    this.#models.set(keyOf(provider, learned.modelId), kept);
    this.#onLearned(provider, learned);
  }
}

function keyOf({ id, version }: ProviderVersion, modelId: string): string {
  return `${id} ${version} ${modelId}`;
}

function isSame(one: ParameterCorrection, other: ParameterCorrection): boolean {
  return (
    one.parameter === other.parameter &&
    one.value === other.value &&
    one.sentAs === other.sentAs &&
    one.onlyWithTools === other.onlyWithTools
  );
}
