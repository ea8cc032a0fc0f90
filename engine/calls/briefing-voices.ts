import type { CallRecord, StockPhrases } from "../../storage/records.js";
import type { RawFormat } from "../audio/audio-format.js";
import type { AudioPool } from "../audio/audio-pool.js";
import { phoneAudio } from "../conversation/leg-audio.js";
import { stockPhrases } from "../conversation/lexicon.js";
import { PreparedPhrases } from "../conversation/prepared-phrases.js";
import { SpeechCache } from "../conversation/speech-cache.js";
import type { Agents } from "../tenancy/agents/agents.js";
import type { Tenant } from "../tenancy/tenant.js";
import type { Clock } from "../time/clock.js";
import { type AgentVendorsOptions, agentVendors } from "./agent-vendors.js";
import { phrasesIn } from "./call-opener.js";
import { wavHeader } from "./recording/recording-file.js";

/** Vendors play 16-bit samples at this rate as they are. */
const WAV_FORMAT = { encoding: "pcm16", sampleRateHz: 8_000 } as const satisfies RawFormat;
const MONO = 1;
/** Briefings differ from call to call; the prepared ones are kept beside it. */
const NO_CACHE_BYTES = 0;

/** An agent's voice and language outside its call. */
export interface BriefingVoice {
  /** BCP-47. */
  readonly language: string;
  readonly phrases: StockPhrases;
  /** A WAV file; undefined if TTS cannot say it now. The same text is synthesized once. Never rejects. */
  speak(text: string): Promise<Uint8Array | undefined>;
}

/** The call that is transferred; `metadata.language` is what it has changed to. */
export type BriefedCall = Pick<CallRecord, "orgId" | "agentId" | "metadata">;

export interface BriefingVoicesOptions {
  readonly agents: Pick<Agents, "forCall">;
  readonly tenantOf: (orgId: string) => Promise<Tenant | undefined>;
  readonly vendors: AgentVendorsOptions;
  readonly audioPool: () => Pick<AudioPool, "of">;
  readonly clock: Clock;
}

/** What agents say to the persons whom their warm transfers call. */
export class BriefingVoices {
  readonly #options: BriefingVoicesOptions;
  readonly #phrases: PreparedPhrases;
  readonly #cache = new SpeechCache(NO_CACHE_BYTES);

  constructor(options: BriefingVoicesOptions) {
    this.#options = options;
    this.#phrases = new PreparedPhrases(options.clock);
  }

  /**
   * In the language that the agent has for briefings, or in that of the call, in which its LLM has written the summary. An agent that can
   * take no calls any more has English words and no voice.
   */
  async of({ orgId, agentId, metadata }: BriefedCall): Promise<BriefingVoice> {
    const { agents, tenantOf, vendors, audioPool } = this.#options;
    const tenant = await tenantOf(orgId);
    const forCall = tenant && (await agents.forCall(tenant, agentId).catch(() => undefined));
    if (forCall === undefined) {
      const language = "en-US";
      return {
        language,
        phrases: stockPhrases(language),
        speak: () => Promise.resolve(undefined),
      };
    }
    const { persona } = forCall.agent;
    const { language: spoken } = metadata;
    const ofCall = typeof spoken === "string" ? spoken : persona.language;
    const language = persona.briefingLanguage ?? ofCall;
    const audio = phoneAudio(WAV_FORMAT, () => audioPool().of(orgId));
    const tts = agentVendors(forCall, audio, vendors).ttsIn(language);
    return {
      language,
      phrases: phrasesIn(persona, language),
      speak: async (text) => {
        const spoken = await this.#phrases.prepare(tts, text, this.#cache);
        if (spoken === undefined || spoken.audio.byteLength === 0) return undefined;
        const header = wavHeader(WAV_FORMAT.sampleRateHz, spoken.audio.byteLength, MONO);
        return Buffer.concat([header, spoken.audio]);
      },
    };
  }
}
