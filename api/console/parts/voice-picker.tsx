import { useMutation } from "@tanstack/react-query";
import { Play } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import type { AgentDraft } from "../model/agent-draft.js";
import { answered, api } from "../model/api.js";
import { useVoices } from "../model/queries.js";
import { waitWords } from "../words/durations.js";
import { TextField } from "./forms/field.js";
import { Fault, Loaded, Outline } from "./states.js";

/** As many characters as the API speaks. */
const SENTENCE_CHARACTERS_MAX = 200;
const SENTENCE = "Hello, thank you for calling. How can I help you today?";
const SEARCH_FROM_VOICES = 8;

interface VoicePickerProps {
  readonly draft: AgentDraft;
  readonly onChange: (draft: AgentDraft) => void;
  readonly wrong: string | undefined;
}

/** The voices of the agent's TTS provider: each can be heard before it is chosen. */
export function VoicePicker(props: VoicePickerProps) {
  const voices = useVoices(props.draft.ttsProviderId);
  return (
    <Loaded query={voices} what="Voices" outline={<Outline lines={4} height={40} />}>
      {(list) => <Picker {...props} list={list} />}
    </Loaded>
  );
}

type VoiceList = NonNullable<ReturnType<typeof useVoices>["data"]>;

function Picker({ draft, onChange, wrong, list }: VoicePickerProps & { readonly list: VoiceList }) {
  const [words, setWords] = useState("");
  const [sentence, setSentence] = useState(
    () => draft.persona.greeting.slice(0, SENTENCE_CHARACTERS_MAX) || SENTENCE,
  );
  const preview = usePreview(draft, list.chosenBy === "model", sentence);
  const name = useId();
  const isModel = list.chosenBy === "model";
  const { ttsConfig, ttsModelId } = draft;
  const chosen = isModel ? ttsModelId : ttsConfig.voice;
  const choose = (voice: string | null) => {
    if (!isModel) onChange({ ...draft, ttsConfig: { ...ttsConfig, voice } });
    else if (voice !== null) onChange({ ...draft, ttsModelId: voice });
  };
  const own = isModel
    ? []
    : [{ voiceId: null, name: "The provider’s own voice", language: null, description: null }];
  const unlisted =
    chosen !== null && !list.voices.some(({ voiceId }) => voiceId === chosen)
      ? [{ voiceId: chosen, name: chosen, language: null, description: "Not in the list" }]
      : [];
  const wanted = words.trim().toLowerCase();
  const shown = [...own, ...unlisted, ...list.voices].filter((voice) =>
    `${voice.name} ${voice.language ?? ""} ${voice.description ?? ""}`
      .toLowerCase()
      .includes(wanted),
  );
  return (
    <fieldset className="stack tight voices">
      <legend>Voice</legend>
      {list.error === null ? null : (
        <p className="note warn">
          The vendor returned no list: {list.error}. You can type a voice id below.
        </p>
      )}
      {list.voices.length < SEARCH_FROM_VOICES ? null : (
        <input
          type="search"
          aria-label="Search voices"
          placeholder="Search by name, language or manner"
          value={words}
          onChange={({ target }) => setWords(target.value)}
        />
      )}
      <ul className="voice-list">
        {shown.map((voice) => (
          <li key={voice.voiceId ?? ""}>
            <label>
              <input
                type="radio"
                name={name}
                checked={voice.voiceId === chosen}
                onChange={() => choose(voice.voiceId)}
              />
              <span>
                <bdi>{voice.name}</bdi>{" "}
                <span className="soft">
                  {[voice.language, voice.description].filter(Boolean).join(", ")}
                </span>
              </span>
            </label>
            <button
              type="button"
              className="button"
              aria-label={`Play ${voice.name}`}
              disabled={preview.isPending}
              onClick={() => preview.mutate(voice.voiceId)}
            >
              <Play size={16} aria-hidden />
            </button>
          </li>
        ))}
        {shown.length === 0 ? <li className="soft">No voices match.</li> : null}
      </ul>
      <p className="soft" role="status">
        {preview.data?.ok === true
          ? `First audio after ${waitWords(preview.data.latencyMs)}.`
          : list.hasMore
            ? "The account has more voices than are listed."
            : ""}
      </p>
      {preview.data?.ok === false ? <p className="note fault">{preview.data.error}</p> : null}
      {preview.error === null ? null : <Fault error={preview.error} />}
      <TextField
        label="Sentence to try"
        hint="Up to 200 characters. The vendor charges for it."
        value={sentence}
        onChange={(text) => setSentence(text.slice(0, SENTENCE_CHARACTERS_MAX))}
      />
      {isModel ? null : (
        <TextField
          label="Voice id"
          hint="The vendor’s id of a voice. Empty: the provider’s own."
          value={ttsConfig.voice ?? ""}
          onChange={(id) => choose(id.trim() === "" ? null : id.trim())}
          wrong={wrong}
        />
      )}
    </fieldset>
  );
}

/** Speaks the sentence; a new one ends the one before. */
function usePreview(draft: AgentDraft, isModel: boolean, sentence: string) {
  const sound = useRef<HTMLAudioElement>(undefined);
  useEffect(() => () => stop(sound.current), []);
  return useMutation({
    mutationFn: (voiceId: string | null) => previewOf(draft, isModel, voiceId, sentence),
    onSuccess: (result) => {
      stop(sound.current);
      if (!result.ok) return;
      const bytes = Uint8Array.from(atob(result.audio), (each) => each.charCodeAt(0));
      sound.current = new Audio(URL.createObjectURL(new Blob([bytes], { type: "audio/mpeg" })));
      // A browser that may not play says so itself; the time of the first audio is known all the same.
      sound.current.play().catch(() => undefined);
    },
  });
}

/** Where each model is a voice, the voice is the model. */
function previewOf(draft: AgentDraft, isModel: boolean, voiceId: string | null, sentence: string) {
  const { ttsProviderId, ttsModelId, ttsConfig, persona } = draft;
  const body = {
    text: sentence.trim() || SENTENCE,
    modelId: isModel ? (voiceId ?? ttsModelId) : ttsModelId,
    voice: isModel ? null : voiceId,
    speed: ttsConfig.speed,
    language: persona.language || "en-US",
  };
  const params = { path: { id: ttsProviderId } };
  return answered(api.POST("/api/dashboard/providers/{id}/preview", { params, body }));
}

function stop(sound: HTMLAudioElement | undefined): void {
  if (sound === undefined) return;
  sound.pause();
  URL.revokeObjectURL(sound.src);
}
