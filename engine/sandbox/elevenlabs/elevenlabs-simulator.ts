import * as v from "valibot";
import type { Exchange } from "../exchange.js";
import { takeFault } from "../faults.js";
import { refuseUpgrade, type SandboxContext, type Simulator, type Upgrade } from "../simulator.js";
import { SimulatorSockets } from "../simulator-sockets.js";
import {
  decodeRecording,
  type RecognizedRecording,
  recognizeRecording,
} from "../sound/recording.js";
import { isUpgradeRefused } from "../sound/voice-over-socket.js";
import {
  refusalOf,
  refusalOfLookup,
  refuse,
  refuseBody,
  VOICE_NOT_FOUND,
} from "./elevenlabs-refusal.js";
import { MultiContextStream } from "./multi-context-stream.js";
import { type AudioForm, answerSpeech, FORMATS } from "./text-to-speech.js";
import { isVoice, VOICES } from "./voices.js";

const CREATED_SEC = 1_767_225_600;

/** The response to `GET` at this path; undefined if there is none. */
export function accountAnswer(pathname: string): object | undefined {
  const voiceId = /^\/v1\/voices\/([^/]+)$/.exec(pathname)?.[1];
  if (voiceId !== undefined) return voices().find(({ voice_id }) => voice_id === voiceId);
  switch (pathname) {
    case "/v1/voices":
      return { voices: voices() };
    case "/v2/voices":
      return {
        voices: voices(),
        has_more: false,
        total_count: VOICES.length,
        next_page_token: null,
      };
    case "/v1/models":
      return [model("eleven_flash_v2_5"), model("eleven_multilingual_v2"), model("eleven_v3")];
    case "/v1/user":
      return user();
    case "/v1/user/subscription":
      return subscription();
    default:
      return undefined;
  }
}

function voices() {
  return VOICES.map(([voice_id, name]) => ({
    voice_id,
    name,
    category: "premade",
    samples: null,
    labels: { language: "en" },
    description: `${name} of the sandbox`,
    preview_url: null,
    available_for_tiers: [],
    settings: null,
    high_quality_base_model_ids: ["eleven_multilingual_v2"],
  }));
}

function model(model_id: string): object {
  return {
    model_id,
    name: model_id,
    can_do_text_to_speech: true,
    can_do_voice_conversion: false,
    can_be_finetuned: false,
    can_use_style: true,
    can_use_speaker_boost: true,
    serves_pro_voices: false,
    token_cost_factor: 1,
    max_characters_request_free_user: 2500,
    max_characters_request_subscribed_user: 40_000,
    languages: [{ language_id: "en", name: "English" }],
  };
}

function user(): object {
  return {
    user_id: "sandbox",
    workspace_id: "sandbox",
    subscription: subscription(),
    is_new_user: false,
    xi_api_key: null,
    can_use_delayed_payment_methods: false,
    is_onboarding_completed: true,
    is_onboarding_checklist_completed: true,
    first_name: "Sandbox",
    created_at: CREATED_SEC,
    seat_type: "workspace_admin",
  };
}

function subscription(): object {
  return {
    tier: "free",
    character_count: 0,
    character_limit: 1_000_000,
    max_credit_limit_extension: 0,
    can_extend_character_limit: false,
    allowed_to_extend_character_limit: false,
    voice_slots_used: 0,
    professional_voice_slots_used: 0,
    professional_voice_slots_used_in_workspace: 0,
    voice_limit: 3,
    voice_add_edit_counter: 0,
    professional_voice_limit: 0,
    can_extend_voice_limit: false,
    can_use_instant_voice_cloning: false,
    can_use_professional_voice_cloning: false,
    current_overage: { amount: "0", currency: "usd" },
    open_invoices: [],
    has_open_invoices: false,
    status: "active",
  };
}

/** The vendor accepts 3 GB. */
const FORM_BYTES_MAX = 64 * 1024 * 1024;
const LOG_PROBABILITY = -0.01;

const TranscriptionForm = v.object({
  model_id: v.pipe(v.string(), v.minLength(1)),
  file: v.instance(File),
});

/** `POST /v1/speech-to-text`: a WAV or an MP3 in the tone code as text. */
export async function answerTranscription(
  context: SandboxContext,
  exchange: Exchange,
  request: number,
): Promise<void> {
  const form = await exchange.readForm(FORM_BYTES_MAX);
  const parsed = v.safeParse(TranscriptionForm, Object.fromEntries(form ?? []));
  context.journal.record("elevenlabs", "request", request);
  const refusal = refusalOf(context, exchange, takeFault(context.faults, "elevenlabs"));
  if (refusal !== undefined) {
    refuse(exchange, refusal);
    return;
  }
  if (!parsed.success) {
    refuseBody(exchange, parsed.issues[0]);
    return;
  }
  const bytes = new Uint8Array(await parsed.output.file.arrayBuffer());
  const recording = await decodeRecording(bytes);
  if (recording === undefined) {
    const message = "File upload is corrupted. Please ensure it is playable audio.";
    refuse(exchange, { http: 400, status: "invalid_content", message });
  } else exchange.answerJson(200, transcriptOf(recognizeRecording(recording)));
}

function transcriptOf({ text, words, durationSec }: RecognizedRecording): object {
  return {
    language_code: "eng",
    language_probability: text === "" ? 0 : 0.99,
    text,
    words: words.flatMap((word, position) => {
      const spoken = placed(word.text, "word", word.startMs, word.endMs);
      const next = words[position + 1];
      return next === undefined
        ? [spoken]
        : [spoken, placed(" ", "spacing", word.endMs, next.startMs)];
    }),
    audio_duration_secs: durationSec,
  };
}

function placed(text: string, type: "word" | "spacing", startMs: number, endMs: number): object {
  const [start, end] = [startMs / 1000, endMs / 1000];
  return { text, start, end, type, speaker_id: null, logprob: LOG_PROBABILITY };
}

const SPEECH_PATH = /^POST \/v1\/text-to-speech\/([^/]+?)(\/stream)?(\/with-timestamps)?$/;

const STREAM_PATH = /^\/v1\/text-to-speech\/([^/]+)\/multi-stream-input$/;
const MESSAGE_BYTES_MAX = 64 * 1024;
const INACTIVITY_SEC = 20;
const INACTIVITY_MAX_SEC = 180;

/**
 * api.elevenlabs.io: speech in both directions over HTTP, contexts of speech over a WebSocket, and the account
 * requests of its SDK.
 */
export class ElevenLabsSimulator implements Simulator {
  readonly #context: SandboxContext;
  readonly #sockets = new SimulatorSockets(MESSAGE_BYTES_MAX);

  constructor(context: SandboxContext) {
    this.#context = context;
  }

  handleUpgrade(upgrade: Upgrade): void {
    const { request, url } = upgrade;
    const { searchParams: query } = url;
    const given = request.headers["xi-api-key"];
    const key = typeof given === "string" ? given : undefined;
    const format = FORMATS.get(query.get("output_format") ?? "mp3_44100_128");
    const inactivitySec = Number(query.get("inactivity_timeout") ?? INACTIVITY_SEC);
    const isInactivityRight = inactivitySec > 0 && inactivitySec <= INACTIVITY_MAX_SEC;
    const model = query.get("model_id") ?? "eleven_multilingual_v2";
    if (!STREAM_PATH.test(url.pathname)) refuseUpgrade(upgrade, 404, "");
    else if (isUpgradeRefused(this.#context, "elevenlabs", upgrade, key, upgradeRefusal)) return;
    // Its newest models do not support sockets; nor does its MP3 at 24 kHz.
    else if (model.startsWith("eleven_v3")) refuseUpgrade(upgrade, 403, "");
    else if (format === undefined || query.get("output_format") === "mp3_24000_48") {
      refuseUpgrade(upgrade, 400, JSON.stringify(upgradeRefusal(400)));
    } else if (!isInactivityRight) refuseUpgrade(upgrade, 400, "");
    else {
      this.#sockets.accept(upgrade, (socket) => {
        const isAutomatic = query.get("auto_mode") === "true";
        const isAligned = query.get("sync_alignment") === "true";
        const hasVoice = isVoice(STREAM_PATH.exec(url.pathname)?.[1] ?? "");
        const options = { format, isAutomatic, isAligned, inactivitySec, hasVoice };
        new MultiContextStream(this.#context, socket, options).start();
      });
    }
  }

  close(): void {
    this.#sockets.close();
  }

  async handleRequest(exchange: Exchange): Promise<void> {
    const { journal } = this.#context;
    const request = journal.nextRequest();
    exchange.whenAborted(() => journal.record("elevenlabs", "aborted", request));
    const route = `${exchange.request.method} ${exchange.url.pathname}`;
    const speech = SPEECH_PATH.exec(route);
    if (speech !== null) {
      const [, voiceId = "", stream, timestamps] = speech;
      const timed: AudioForm = stream === undefined ? "timed" : "timedLines";
      const form = timestamps === undefined ? "bare" : timed;
      await answerSpeech(this.#context, exchange, request, { voiceId, form });
    } else if (route === "POST /v1/speech-to-text") {
      await answerTranscription(this.#context, exchange, request);
    } else if (exchange.request.method === "GET") this.#findVoice(exchange);
    else exchange.answerJson(404, { detail: "Not Found" });
  }

  #findVoice(exchange: Exchange): void {
    const { pathname } = exchange.url;
    const refusal = refusalOfLookup(this.#context, exchange);
    const answer = accountAnswer(pathname);
    if (refusal !== undefined) refuse(exchange, refusal);
    else if (answer !== undefined) exchange.answerJson(200, answer);
    else if (pathname.startsWith("/v1/voices/")) refuse(exchange, VOICE_NOT_FOUND);
    else exchange.answerJson(404, { detail: "Not Found" });
  }
}

function upgradeRefusal(status: number): object {
  const word = UPGRADE_WORDS.get(status) ?? "internal_error";
  return { detail: { status: word, message: "The sandbox refuses this." } };
}

const UPGRADE_WORDS: ReadonlyMap<number, string> = new Map([
  [400, "invalid_request"],
  [401, "invalid_api_key"],
  [402, "quota_exceeded"],
  [429, "too_many_concurrent_requests"],
]);
