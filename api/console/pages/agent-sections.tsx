import { type ComponentType, useState } from "react";
import { Link } from "wouter";
import {
  type AgentDraft,
  type AnalysisDraft,
  newSigningSecret,
  type PreCallDraft,
  toolsFault,
  withToolsText,
} from "../model/agent-draft.js";
import { newTool, TOOLS_MAX, type ToolDraft } from "../model/agent-tools.js";
import { MCP_SERVERS_MAX, type McpServerDraft, NEW_MCP_SERVER } from "../model/mcp-servers.js";
import {
  useDocuments,
  useModels,
  useProviders,
  useVendorShares,
  useVoices,
} from "../model/queries.js";
import { SERVER_URL } from "../model/server-address.js";
import { CheckField, SelectField, TextField } from "../parts/forms/field.js";
import { McpServerForm } from "../parts/forms/mcp-server-form.js";
import { NumberField } from "../parts/forms/number-field.js";
import { OrderedList } from "../parts/forms/ordered-list.js";
import { headersOf, ToolForm } from "../parts/forms/tool-form.js";
import { faultWords, Loaded } from "../parts/states.js";
import { VoicePicker } from "../parts/voice-picker.js";
import { DOCUMENT_STATES } from "../words/document-words.js";
import { LATENCY_DAYS, modelLatencyWords } from "../words/model-latency-words.js";
import { SETTING_COST_WORDS } from "../words/setting-costs.js";

/** The contract's. */
const USUAL_TEMPERATURE = 0.4;

type Category = "llm" | "tts" | "stt";

interface ModelFieldProps {
  readonly category: Category;
  readonly label: string;
  readonly hint?: string;
  readonly providerId: string;
  /** Empty: the provider's first. */
  readonly modelId: string;
  readonly onChange: (providerId: string, modelId: string) => void;
  readonly isDisabled?: boolean;
  readonly wrong: string | undefined;
}

const SEPARATOR = " ";

/** Provider and model as one choice; what the plan does not include is named with the plan that does. */
export function ModelField({ category, providerId, modelId, onChange, ...field }: ModelFieldProps) {
  const models = useModels(category);
  const measured = useModelLatency(category, providerId, modelId);
  const valueOf = (provider: string, model: string) => `${provider}${SEPARATOR}${model}`;
  const options = (models.data?.items ?? []).map((item) => ({
    value: valueOf(item.providerId, item.modelId),
    label: `${item.providerName} · ${item.label}${
      item.allowed ? "" : ` (plan ${item.requiredPlan ?? "of your own"})`
    }`,
  }));
  const value = valueOf(providerId, modelId);
  const isListed = options.some((option) => option.value === value);
  const all = isListed
    ? options
    : [{ value, label: modelId === "" ? "the first that the plan allows" : modelId }, ...options];
  return (
    <SelectField
      {...field}
      measured={measured}
      wrong={field.wrong ?? (models.error === null ? undefined : faultWords(models.error))}
      value={value}
      options={all}
      onChange={(chosen) => {
        const [provider = "", ...model] = chosen.split(SEPARATOR);
        onChange(provider, model.join(SEPARATOR));
      }}
    />
  );
}

/** Undefined until it is known. */
function useModelLatency(category: Category, providerId: string, modelId: string) {
  const shares = useVendorShares(LATENCY_DAYS);
  const providers = useProviders();
  const provider = providers.data?.find(({ _id }) => _id === providerId);
  if (shares.data === undefined || provider === undefined) return undefined;
  const { providerKey: vendor, simulated: isSimulated } = provider;
  return modelLatencyWords(shares.data, { category, vendor, modelId, isSimulated });
}

export function VoiceSection({ draft, onChange, wrongAt }: SectionProps) {
  const { ttsConfig } = draft;
  return (
    <>
      <ModelField
        category="tts"
        label="TTS model"
        hint="Its first audio is part of every wait. The page of a call shows it."
        providerId={draft.ttsProviderId}
        modelId={draft.ttsModelId}
        onChange={(ttsProviderId, ttsModelId) => {
          const isSame = ttsProviderId === draft.ttsProviderId;
          const voice = isSame ? ttsConfig.voice : null;
          onChange({ ...draft, ttsProviderId, ttsModelId, ttsConfig: { ...ttsConfig, voice } });
        }}
        wrong={wrongAt("ttsModelId") ?? wrongAt("ttsProviderId")}
      />
      <VoicePicker
        key={draft.ttsProviderId}
        {...{ draft, onChange }}
        wrong={wrongAt("ttsConfig.voice")}
      />
      <NumberField
        label="Speed"
        hint="1 is the voice’s own. 0.25 to 4; most callers follow 1.1 easily."
        step={0.05}
        value={ttsConfig.speed}
        onChange={(speed) => onChange({ ...draft, ttsConfig: { ...ttsConfig, speed } })}
        wrong={wrongAt("ttsConfig.speed")}
      />
      <PronunciationsField {...{ draft, onChange, wrongAt }} />
    </>
  );
}

const LANGUAGES_MAX = 10;

type LanguageVoice = AgentDraft["ttsConfig"]["languageVoices"][number];
type LanguageTexts = Omit<AgentDraft["persona"]["languageTexts"][number], "language">;

const NO_TEXTS: LanguageTexts = { greeting: null, stockPhrases: {} };

/** One of the agent's other languages; without a voice the agent's own speaks it. */
interface OtherLanguage {
  readonly language: string;
  readonly voice?: Omit<LanguageVoice, "language">;
  readonly texts: LanguageTexts;
}

/** The languages that the agent changes to in a call, with a voice for each. */
function LanguagesSection({ draft, onChange, wrongAt }: SectionProps) {
  const { persona, ttsConfig } = draft;
  const models = useModels("stt");
  const cannot = cannotTellWords(models.data?.items, draft);
  // A tag that is typed may be another's for a moment; their voices and texts are told apart until the draft is another.
  const [edited, setEdited] = useState<{
    readonly languages: readonly string[];
    readonly items: readonly OtherLanguage[];
  }>();
  const stored = persona.languages.map((language): OtherLanguage => {
    const { language: _of, ...voice } =
      ttsConfig.languageVoices.find((each) => each.language === language) ?? {};
    const { language: _its, ...texts } = {
      ...NO_TEXTS,
      ...persona.languageTexts.find((each) => each.language === language),
    };
    return "providerId" in voice ? { language, voice, texts } : { language, texts };
  });
  const items = edited?.languages === persona.languages ? edited.items : stored;
  const hasBlank = persona.languages.includes("");
  const setItems = (changed: readonly OtherLanguage[]) => {
    const languages = changed.map(({ language }) => language);
    const languageVoices = changed.flatMap(({ language, voice }) =>
      voice === undefined ? [] : [{ language, ...voice }],
    );
    const languageTexts = changed.flatMap(({ language, texts }) => {
      const { greeting, stockPhrases, toolSentences = {} } = texts;
      const isEmpty =
        greeting === null && Object.keys({ ...stockPhrases, ...toolSentences }).length === 0;
      return isEmpty ? [] : [{ language, ...texts }];
    });
    const { briefingLanguage: tag } = persona;
    const isSpoken = tag === persona.language || languages.includes(tag ?? "");
    const briefingLanguage = isSpoken ? tag : null;
    setEdited({ languages, items: changed });
    onChange({
      ...draft,
      persona: { ...persona, languages, languageTexts, briefingLanguage },
      ttsConfig: { ...ttsConfig, languageVoices },
    });
  };
  return (
    <>
      <p className="soft">
        The agent changes to one of these when the caller speaks it: its voice, the phrases that it
        says by itself, and what the LLM is told. A single word or a name changes nothing.
      </p>
      {cannot === undefined ? null : <p className="note warn">{cannot}</p>}
      <OrderedList
        items={items}
        onChange={setItems}
        nameOf={({ language }, index) => language || `language ${index + 1}`}
        isOrdered={false}
      >
        {(item, index, change) => (
          <LanguageFields
            {...{ draft, item, change }}
            isDisabled={cannot !== undefined}
            wrongLanguage={wrongAt(`persona.languages.${index}`)}
            wrongVoice={(field) => {
              const at = ttsConfig.languageVoices.findIndex(
                ({ language }) => language === item.language,
              );
              return wrongAt(`ttsConfig.languageVoices.${at}.${field}`);
            }}
            wrongText={(field) => {
              const at = persona.languageTexts.findIndex(
                ({ language }) => language === item.language,
              );
              return wrongAt(`persona.languageTexts.${at}.${field}`);
            }}
          />
        )}
      </OrderedList>
      {wrongAt("persona.languages") === undefined ? null : (
        <p className="note fault">{wrongAt("persona.languages")}</p>
      )}
      <div>
        <button
          type="button"
          className="button"
          disabled={cannot !== undefined || hasBlank || items.length >= LANGUAGES_MAX}
          onClick={() => setItems([...items, { language: "", texts: NO_TEXTS }])}
        >
          Add a language
        </button>
      </div>
      <SelectField
        label="Language of warm transfers"
        hint="Of what the person hears whom a warm transfer calls. The LLM writes its summary in it."
        value={persona.briefingLanguage ?? ""}
        options={[
          { value: "", label: "The one that the caller speaks" },
          ...[persona.language, ...persona.languages]
            .filter((language) => language !== "")
            .map((language) => ({ value: language, label: language })),
        ]}
        onChange={(tag) => {
          const briefingLanguage = tag === "" ? null : tag;
          onChange({ ...draft, persona: { ...persona, briefingLanguage } });
        }}
        wrong={wrongAt("persona.briefingLanguage")}
      />
    </>
  );
}

/** Why the agent's STT model cannot have other languages, and which can; undefined where it can, or that is not known. */
function cannotTellWords(
  models: NonNullable<ReturnType<typeof useModels>["data"]>["items"] | undefined,
  { sttProviderId, sttModelId }: AgentDraft,
): string | undefined {
  const model = models?.find(
    ({ providerId, modelId }) =>
      providerId === sttProviderId && (sttModelId === null || modelId === sttModelId),
  );
  if (model === undefined || model.detectsLanguages !== null) return undefined;
  const can = (models ?? []).filter(({ detectsLanguages }) => detectsLanguages !== null);
  const names = can.map(({ providerName, label }) => `${providerName} ${label}`);
  const others =
    names.length === 0
      ? "No STT model of your providers can."
      : `These can, under Model: ${names.join(", ")}.`;
  return `The STT model ${model.label} does not tell which language is spoken. ${others}`;
}

interface LanguageFieldsProps {
  readonly draft: AgentDraft;
  readonly item: OtherLanguage;
  readonly change: (item: OtherLanguage) => void;
  readonly isDisabled: boolean;
  readonly wrongLanguage: string | undefined;
  readonly wrongVoice: (
    field: "language" | "providerId" | "modelId" | "voice",
  ) => string | undefined;
  readonly wrongText: (field: string) => string | undefined;
}

function LanguageFields(props: LanguageFieldsProps) {
  const { draft, item, change, isDisabled, wrongLanguage, wrongVoice, wrongText } = props;
  const { voice, texts } = item;
  const own = { providerId: draft.ttsProviderId, modelId: draft.ttsModelId, voice: null };
  return (
    <>
      <TextField
        label="Language"
        hint="A tag such as de-DE."
        placeholder="de-DE"
        isDisabled={isDisabled}
        value={item.language}
        onChange={(language) => change({ ...item, language: language.trim() })}
        wrong={wrongLanguage ?? wrongVoice("language") ?? wrongText("language")}
      />
      <CheckField
        label="A voice of its own"
        hint="Otherwise the agent’s voice speaks it, as well as its model can."
        isDisabled={isDisabled}
        value={voice !== undefined}
        onChange={(isOn) => {
          const { language } = item;
          change(isOn ? { language, texts, voice: own } : { language, texts });
        }}
      />
      {voice === undefined ? null : (
        <div className="grid2">
          <ModelField
            category="tts"
            label="TTS model"
            isDisabled={isDisabled}
            providerId={voice.providerId}
            modelId={voice.modelId}
            onChange={(providerId, modelId) => {
              const isSame = providerId === voice.providerId;
              const kept = isSame ? voice.voice : null;
              change({ ...item, voice: { providerId, modelId, voice: kept } });
            }}
            wrong={wrongVoice("modelId") ?? wrongVoice("providerId")}
          />
          <LanguageVoiceField
            {...{ voice, isDisabled }}
            onChange={(chosen) => change({ ...item, voice: { ...voice, voice: chosen } })}
            wrong={wrongVoice("voice")}
          />
        </div>
      )}
      <details>
        <summary>First sentence and phrases in this language</summary>
        <div className="stack">
          <TextField
            label="First sentence"
            hint="Of a call that begins in this language. Empty: the agent’s own."
            isDisabled={isDisabled}
            value={texts.greeting ?? ""}
            onChange={(text) => {
              change({ ...item, texts: { ...texts, greeting: text === "" ? null : text } });
            }}
            wrong={wrongText("greeting")}
          />
          <StockPhraseFields
            phrases={texts.stockPhrases}
            change={(stockPhrases) => change({ ...item, texts: { ...texts, stockPhrases } })}
            wrongAt={(key) => wrongText(`stockPhrases.${key}`)}
          />
        </div>
      </details>
      <ToolSentenceFields
        {...{ draft, texts, isDisabled, wrongText }}
        onChange={(toolSentences) => change({ ...item, texts: { ...texts, toolSentences } })}
      />
    </>
  );
}

type ToolSentences = NonNullable<LanguageTexts["toolSentences"]>;

const SENTENCE_LABELS = {
  onStart: "Said when it starts",
  onDelay: "Said when it takes long",
  onFailure: "Said when it fails",
} as const;
const SENTENCES = ["onStart", "onDelay", "onFailure"] as const;

interface ToolSentenceFieldsProps {
  readonly draft: AgentDraft;
  readonly texts: LanguageTexts;
  readonly isDisabled: boolean;
  readonly onChange: (sentences: ToolSentences) => void;
  readonly wrongText: (field: string) => string | undefined;
}

/** What the agent says in another language while its tools run; only for tools that say something in its own. */
function ToolSentenceFields(props: ToolSentenceFieldsProps) {
  const { draft, texts, isDisabled, onChange, wrongText } = props;
  const { toolSentences = {} } = texts;
  const named = [...draft.tools, ...draft.mcpServers].flatMap((tool) =>
    "name" in tool && "timeoutMs" in tool ? [tool] : [],
  );
  const speaking = named.filter(
    (tool) =>
      Object.hasOwn(toolSentences, tool.name) ||
      SENTENCES.some((field) => tool[field] !== undefined),
  );
  if (speaking.length === 0) return null;
  const change = (name: string, field: (typeof SENTENCES)[number], text: string) => {
    const { [name]: before = {}, ...others } = toolSentences;
    const { [field]: _before, ...rest } = before;
    const own = { ...rest, ...(text !== "" && { [field]: text }) };
    onChange(Object.keys(own).length === 0 ? others : { ...others, [name]: own });
  };
  return (
    <details>
      <summary>What tools say in this language</summary>
      <div className="stack">
        <p className="soft">A sentence that is empty here is not said in this language.</p>
        {speaking.flatMap((tool) =>
          SENTENCES.filter(
            (field) => tool[field] !== undefined || toolSentences[tool.name]?.[field] !== undefined,
          ).map((field) => (
            <TextField
              key={`${tool.name} ${field}`}
              label={`${tool.name}: ${SENTENCE_LABELS[field]}`}
              placeholder={tool[field] ?? ""}
              isDisabled={isDisabled}
              value={toolSentences[tool.name]?.[field] ?? ""}
              onChange={(text) => change(tool.name, field, text)}
              wrong={wrongText(`toolSentences.${tool.name}.${field}`)}
            />
          )),
        )}
      </div>
    </details>
  );
}

interface LanguageVoiceFieldProps {
  readonly voice: Omit<LanguageVoice, "language">;
  readonly isDisabled: boolean;
  readonly onChange: (voice: string | null) => void;
  readonly wrong: string | undefined;
}

/** Nothing where each model is a voice. */
function LanguageVoiceField({ voice, onChange, ...field }: LanguageVoiceFieldProps) {
  const voices = useVoices(voice.providerId);
  if (voices.data?.chosenBy !== "voice") return null;
  const listed = voices.data.voices.map(({ voiceId, name, language }) => ({
    value: voiceId,
    label: language === null ? name : `${name} (${language})`,
  }));
  const chosen = voice.voice ?? "";
  const unlisted =
    chosen !== "" && !listed.some(({ value }) => value === chosen)
      ? [{ value: chosen, label: chosen }]
      : [];
  return (
    <SelectField
      {...field}
      label="Voice"
      value={chosen}
      options={[{ value: "", label: "The provider’s own voice" }, ...unlisted, ...listed]}
      onChange={(value) => onChange(value === "" ? null : value)}
    />
  );
}

/** A word and how it is said, a line each. */
function PronunciationsField({ draft, onChange, wrongAt }: SectionProps) {
  const { persona } = draft;
  return (
    <LinesField
      label="Pronunciation"
      hint="One word or phrase per line and how the voice says it, such as “Nguyen = win”. The transcript keeps the word."
      value={persona.pronunciations.map(({ word, say }) => `${word} = ${say}`)}
      onChange={(lines) => {
        const pronunciations = lines.map((line) => {
          const [word = "", ...say] = line.split("=");
          return { word: word.trim(), say: say.join("=").trim() };
        });
        onChange({ ...draft, persona: { ...persona, pronunciations } });
      }}
      wrong={
        wrongInList(wrongAt, "persona.pronunciations") ??
        wrongInList(
          (path) => wrongAt(`${path}.say`) ?? wrongAt(`${path}.word`),
          "persona.pronunciations",
        )
      }
    />
  );
}

export function HearingSection({ draft, onChange, wrongAt }: SectionProps) {
  const { persona } = draft;
  const models = useModels("stt");
  const model = models.data?.items.find(
    ({ providerId, modelId }) =>
      providerId === draft.sttProviderId &&
      (draft.sttModelId === null || modelId === draft.sttModelId),
  );
  return (
    <>
      <ModelField
        category="stt"
        label="STT model"
        hint="Writes down what the caller says. Default: the provider’s first model that the plan allows."
        providerId={draft.sttProviderId}
        modelId={draft.sttModelId ?? ""}
        onChange={(sttProviderId, sttModelId) => onChange({ ...draft, sttProviderId, sttModelId })}
        wrong={wrongAt("sttModelId") ?? wrongAt("sttProviderId")}
      />
      <LinesField
        label="Names and terms that callers say"
        hint="One per line, variables with a default too, such as {{customer|Nguyen}}. Deepgram Nova 3 and Flux, and AssemblyAI, understand them better; other models do without."
        isDisabled={model?.takesKeyterms === false}
        value={persona.keyterms}
        onChange={(lines) => onChange({ ...draft, persona: { ...persona, keyterms: [...lines] } })}
        wrong={wrongInList(wrongAt, "persona.keyterms")}
      />
    </>
  );
}

export function ThinkingSection({ draft, onChange, wrongAt }: SectionProps) {
  const { llmConfig } = draft;
  return (
    <>
      <ModelField
        category="llm"
        label="LLM"
        hint="Its first token is most of the wait in many calls."
        providerId={draft.llmProviderId}
        modelId={draft.llmModelId}
        onChange={(llmProviderId, llmModelId) => onChange({ ...draft, llmProviderId, llmModelId })}
        wrong={wrongAt("llmModelId") ?? wrongAt("llmProviderId")}
      />
      <div className="grid2">
        {llmConfig.temperature === null ? null : (
          <NumberField
            label="Temperature"
            hint="0 gives the same reply every time, 2 rambles. Default: 0.4."
            step={0.1}
            value={llmConfig.temperature}
            onChange={(temperature) =>
              onChange({ ...draft, llmConfig: { ...llmConfig, temperature } })
            }
            wrong={wrongAt("llmConfig.temperature")}
          />
        )}
        <NumberField
          label="Longest reply, in tokens"
          hint="Longer replies are cut off. 200 is about three long sentences."
          value={llmConfig.maxTokens}
          onChange={(maxTokens) => onChange({ ...draft, llmConfig: { ...llmConfig, maxTokens } })}
          wrong={wrongAt("llmConfig.maxTokens")}
        />
      </div>
      <CheckField
        label="Send no temperature"
        hint="For models that refuse any, such as Claude 5."
        value={llmConfig.temperature === null}
        onChange={(isLeftOut) =>
          onChange({
            ...draft,
            llmConfig: { ...llmConfig, temperature: isLeftOut ? null : USUAL_TEMPERATURE },
          })
        }
      />
    </>
  );
}

type Fallbacks = AgentDraft["fallbacks"];
type Kind = Exclude<keyof Fallbacks, "hedging">;

/** As many of each kind as the API takes. */
const FALLBACKS_MAX = 3;
const FALLBACK_KINDS = [
  { kind: "llm", title: "LLMs", one: "LLM" },
  { kind: "tts", title: "TTS", one: "TTS" },
  { kind: "stt", title: "STT", one: "STT" },
] as const;

interface Link {
  readonly providerId: string;
  readonly modelId: string | null;
  readonly speed?: number;
}

export function FallbacksSection(props: SectionProps) {
  const { draft, onChange } = props;
  return (
    <>
      <p className="soft">
        Used in this order when a provider fails; the call goes on without losing a word. A fallback
        of another vendor helps most.
      </p>
      {FALLBACK_KINDS.map((each) => (
        <FallbackList key={each.kind} {...props} {...each} />
      ))}
      <CheckField
        label="Hedging: ask the next LLM too when the first is later than usual"
        hint="The one that starts first replies. The tokens of the other are wasted; the operator limits how many."
        measured={SETTING_COST_WORDS.hedging}
        value={draft.fallbacks.hedging}
        onChange={(hedging) => onChange({ ...draft, fallbacks: { ...draft.fallbacks, hedging } })}
      />
    </>
  );
}

interface FallbackListProps extends SectionProps {
  readonly kind: Kind;
  readonly title: string;
  readonly one: string;
}

function FallbackList({ draft, onChange, wrongAt, kind, title, one }: FallbackListProps) {
  const links: readonly Link[] = draft.fallbacks[kind];
  const next = useNextLink(draft, kind);
  const setLinks = (changed: readonly Link[]) =>
    onChange({ ...draft, fallbacks: withLinks(draft, kind, changed) });
  return (
    <fieldset className="stack tight">
      <legend>{title}</legend>
      {links.length === 0 ? <p className="soft">None: a call depends on its own {one}.</p> : null}
      <OrderedList
        items={links}
        onChange={setLinks}
        nameOf={(_link, index) => `${one} ${index + 1}`}
      >
        {(link, index, change) => {
          const path = `fallbacks.${kind}.${index}`;
          return (
            <>
              <ModelField
                category={kind}
                label={index === 0 ? "First" : index === 1 ? "Then" : "Last"}
                providerId={link.providerId}
                modelId={link.modelId ?? ""}
                onChange={(providerId, modelId) => change({ ...link, providerId, modelId })}
                wrong={wrongAt(`${path}.modelId`) ?? wrongAt(`${path}.providerId`) ?? wrongAt(path)}
              />
              {link.speed === undefined ? null : (
                <NumberField
                  label="Speed"
                  step={0.05}
                  value={link.speed}
                  onChange={(speed) => change({ ...link, speed })}
                  wrong={wrongAt(`${path}.speed`)}
                />
              )}
            </>
          );
        }}
      </OrderedList>
      <div>
        <button
          type="button"
          className="button"
          disabled={next === undefined || links.length >= FALLBACKS_MAX}
          onClick={() => (next === undefined ? undefined : setLinks([...links, next]))}
        >
          Add {one === "TTS" ? "a" : "an"} {one}
        </button>
      </div>
    </fieldset>
  );
}

/** The first that the plan allows of a provider that is not asked yet, or of any. */
function useNextLink(draft: AgentDraft, kind: Kind): Link | undefined {
  const models = useModels(kind);
  const asked = new Set([
    draft[`${kind}ProviderId`],
    ...draft.fallbacks[kind].map(({ providerId }) => providerId),
  ]);
  const allowed = (models.data?.items ?? []).filter((item) => item.allowed);
  const found = allowed.find((item) => !asked.has(item.providerId)) ?? allowed[0];
  if (found === undefined) return undefined;
  const { providerId, modelId } = found;
  return { providerId, modelId, ...(kind === "tts" ? { speed: draft.ttsConfig.speed } : {}) };
}

function withLinks({ fallbacks, ttsConfig }: AgentDraft, kind: Kind, links: readonly Link[]) {
  const named = links.map(({ providerId, modelId }) => ({ providerId, modelId: modelId ?? "" }));
  switch (kind) {
    case "llm":
      return { ...fallbacks, llm: named };
    case "tts":
      return {
        ...fallbacks,
        tts: named.map((link, index) => ({
          ...link,
          speed: links[index]?.speed ?? ttsConfig.speed,
        })),
      };
    case "stt":
      return {
        ...fallbacks,
        stt: links.map(({ providerId, modelId }) => ({ providerId, modelId: modelId || null })),
      };
  }
}

const TOOL_KINDS = [
  { type: "http", label: "Ask a service" },
  { type: "client", label: "Ask the page" },
  { type: "transfer", label: "Transfer" },
  { type: "hangup", label: "Hang up" },
  { type: "sendDigits", label: "Press keys" },
] as const;

export function ToolsSection(props: SectionProps) {
  const { draft, onChange } = props;
  const isText = draft.toolsText !== undefined;
  const fault = toolsFault(draft);
  return (
    <>
      <div className="row">
        <p className="soft" style={{ flex: "1 1 240px" }}>
          What the agent may do besides talking. All of them are sent to the LLM with every turn.
        </p>
        <button
          type="button"
          className="button"
          aria-pressed={isText}
          disabled={fault !== undefined}
          onClick={() =>
            onChange({
              ...draft,
              toolsText: isText ? undefined : JSON.stringify(draft.tools, null, 2),
            })
          }
        >
          Edit as JSON
        </button>
      </div>
      {isText ? <ToolsText {...props} /> : <ToolList {...props} />}
    </>
  );
}

function ToolsText({ draft, onChange, wrongAt }: SectionProps) {
  return (
    <TextField
      label="Tools, as JSON"
      hint={
        <>
          <a href={`${SERVER_URL}/api/docs`}>The API’s page</a> shows all fields. Secret headers
          stay as they are unless you write them anew.
        </>
      }
      isLong
      value={draft.toolsText ?? ""}
      onChange={(toolsText) => onChange(withToolsText(draft, toolsText))}
      wrong={toolsFault(draft) ?? wrongAt("tools")}
      placeholder='[{ "type": "hangup" }]'
    />
  );
}

function ToolList({ draft, onChange, wrongAt }: SectionProps) {
  const { tools } = draft;
  const setTools = (changed: readonly ToolDraft[]) => onChange({ ...draft, tools: changed });
  const isFree = (type: ToolDraft["type"]) =>
    type === "http" || type === "client" || tools.every((tool) => tool.type !== type);
  return (
    <>
      <OrderedList items={tools} isOrdered={false} onChange={setTools} nameOf={nameOf}>
        {(tool, index, change) => (
          <>
            <ToolForm
              tool={tool}
              onChange={change}
              wrongAt={(field) => wrongAt(`tools.${index}.${field}`)}
            />
            <Wrong message={wrongAt(`tools.${index}`)} />
          </>
        )}
      </OrderedList>
      <Wrong message={wrongAt("tools")} />
      <fieldset className="row">
        <legend>Add a tool</legend>
        {TOOL_KINDS.map(({ type, label }) => (
          <button
            key={type}
            type="button"
            className="button"
            disabled={!isFree(type) || tools.length >= TOOLS_MAX}
            onClick={() => setTools([...tools, newTool(type)])}
          >
            {label}
          </button>
        ))}
      </fieldset>
    </>
  );
}

function Wrong({ message }: { message: string | undefined }) {
  return message === undefined ? null : <p className="wrong">{message}</p>;
}

function McpSection({ draft, onChange, wrongAt }: SectionProps) {
  const { mcpServers } = draft;
  const setServers = (changed: readonly McpServerDraft[]) =>
    onChange({ ...draft, mcpServers: changed });
  return (
    <>
      <p className="soft">
        Servers of the Model Context Protocol whose tools the agent may use. Their tools are listed
        below when they are saved.
      </p>
      <OrderedList
        items={mcpServers}
        isOrdered={false}
        onChange={setServers}
        nameOf={({ name }, index) => (name === "" ? `server ${index + 1}` : name)}
      >
        {(server, index, change) => (
          <McpServerForm
            server={server}
            onChange={change}
            wrongAt={(field) => wrongAt(`mcpServers.${index}.${field}`)}
          />
        )}
      </OrderedList>
      <Wrong message={wrongAt("mcpServers")} />
      <div>
        <button
          type="button"
          className="button"
          disabled={mcpServers.length >= MCP_SERVERS_MAX}
          onClick={() => setServers([...mcpServers, NEW_MCP_SERVER])}
        >
          Add an MCP server
        </button>
      </div>
    </>
  );
}

function nameOf(tool: ToolDraft, index: number): string {
  if ("name" in tool) return tool.name === "" ? `tool ${index + 1}` : tool.name;
  return TOOL_KINDS.find(({ type }) => type === tool.type)?.label ?? tool.type;
}

type Thresholds = AgentDraft["thresholds"];
type NumberKey = Exclude<
  { [Key in keyof Thresholds]: Thresholds[Key] extends number ? Key : never }[keyof Thresholds],
  undefined
>;

const NUMBERS: readonly {
  readonly key: NumberKey;
  readonly label: string;
  readonly hint: string;
  readonly measured?: string;
}[] = [
  {
    key: "endpointingMs",
    label: "Silence after which words count as final, in ms",
    hint: "Every reply waits for it. Lower is faster, but cuts off more callers who only pause for breath. 10 to 10,000.",
    measured: SETTING_COST_WORDS.endpointingMs,
  },
  {
    key: "silenceTimeoutMs",
    label: "Silence that ends a turn, in ms",
    hint: "Used when the STT does not detect the end of a turn. 50 to 60,000.",
  },
  {
    key: "maxEndpointingDelayMs",
    label: "Longest pause in an unfinished sentence, in ms",
    hint: "For callers who dictate a number or say “and …”. 0 to 10,000.",
    measured: SETTING_COST_WORDS.maxEndpointingDelayMs,
  },
  {
    key: "fillerAfterMs",
    label: "Filler phrase after, in ms",
    hint: "“One moment.” while a reply is late. 0 for never.",
  },
  {
    key: "dtmfDigits",
    label: "DTMF digits in an answer",
    hint: "0 if that varies: then a pause or # ends the answer. At most 32.",
  },
  {
    key: "maxCallDurationSec",
    label: "Longest call, in seconds",
    hint: "The plan has a limit of its own.",
  },
];

export function TurnSection({ draft, onChange, wrongAt }: SectionProps) {
  const { thresholds } = draft;
  const change = (changed: Partial<Thresholds>) =>
    onChange({ ...draft, thresholds: { ...thresholds, ...changed } });
  return (
    <>
      <div className="grid2">
        {NUMBERS.map(({ key, ...field }) => (
          <NumberField
            key={key}
            {...field}
            value={thresholds[key]}
            onChange={(value) => change({ [key]: value })}
            wrong={wrongAt(`thresholds.${key}`)}
          />
        ))}
      </div>
      <CheckField
        label="Preemptive generation: start the reply before the end of the turn is certain"
        hint="Replies start sooner. Tokens are wasted when the caller goes on."
        measured={SETTING_COST_WORDS.preemptiveGeneration}
        value={thresholds.preemptiveGeneration}
        onChange={(preemptiveGeneration) => change({ preemptiveGeneration })}
      />
      <SelectField
        label="How easily the caller interrupts"
        hint="High: any voice stops the agent. Low: it takes words."
        value={thresholds.interruptionSensitivity}
        options={SENSITIVITIES}
        onChange={(value) => {
          const chosen = SENSITIVITIES.find((each) => each.value === value)?.value;
          if (chosen !== undefined) change({ interruptionSensitivity: chosen });
        }}
      />
      <SelectField
        label="Backchannels (“uh-huh”, “okay”) while the agent speaks"
        hint="They never interrupt. With “Reply”, the agent answers them once it has spoken."
        value={thresholds.backchannels}
        options={BACKCHANNELS}
        onChange={(value) => change({ backchannels: value === "reply" ? "reply" : "ignore" })}
      />
      <LinesField
        label="Backchannels of your callers"
        hint="One phrase per line, such as “right on mate”. They do not interrupt the agent, like those of its language."
        value={thresholds.backchannelPhrases}
        onChange={(lines) => change({ backchannelPhrases: [...lines] })}
        wrong={wrongInList(wrongAt, "thresholds.backchannelPhrases")}
      />
      <LinesField
        label="Phrases that always interrupt"
        hint="One phrase per line, such as “hold on”. They stop the agent at every sensitivity."
        value={thresholds.interruptionPhrases}
        onChange={(lines) => change({ interruptionPhrases: [...lines] })}
        wrong={wrongInList(wrongAt, "thresholds.interruptionPhrases")}
      />
      <SelectField
        label="When a provider and all its fallbacks fail"
        hint="The call ends, or is transferred with the agent’s transfer tool where the line supports it."
        value={thresholds.onProviderFailure}
        options={PROVIDER_FAILURE}
        onChange={(value) =>
          change({ onProviderFailure: value === "transfer" ? "transfer" : "end" })
        }
        wrong={wrongAt("thresholds.onProviderFailure")}
      />
      <SelectField
        label="Speech that the STT returned no words for"
        hint="The agent says that it did not catch that, at most twice until there are words."
        value={thresholds.onUnrecognizedSpeech ?? "line"}
        options={UNRECOGNIZED_SPEECH}
        onChange={(value) => {
          const isChosen = value === "ask" || value === "ignore";
          change({ onUnrecognizedSpeech: isChosen ? value : null });
        }}
      />
      <SilenceFields thresholds={thresholds} change={change} wrong={wrongAt} />
    </>
  );
}

interface SilenceFieldsProps {
  readonly thresholds: Thresholds;
  readonly change: (changed: Partial<Thresholds>) => void;
  readonly wrong: (path: string) => string | undefined;
}

const PHONE_IDLE_TIMEOUT_MS = 10_000;

function SilenceFields({ thresholds, change, wrong }: SilenceFieldsProps) {
  const { idleTimeoutMs } = thresholds;
  return (
    <>
      <CheckField
        label="Ask a silent caller “are you still there?” after the line’s default"
        hint="10 s on the telephone, never in a browser."
        value={idleTimeoutMs === null}
        onChange={(isUsual) => change({ idleTimeoutMs: isUsual ? null : PHONE_IDLE_TIMEOUT_MS })}
      />
      {idleTimeoutMs === null ? null : (
        <NumberField
          label="Idle timeout, in ms"
          hint="0 for never, at most 600,000."
          value={idleTimeoutMs}
          onChange={(value) => change({ idleTimeoutMs: value })}
          wrong={wrong("thresholds.idleTimeoutMs")}
        />
      )}
    </>
  );
}

const SENSITIVITIES = [
  { value: "low", label: "Low" },
  { value: "medium", label: "Medium" },
  { value: "high", label: "High" },
] as const;
const PROVIDER_FAILURE = [
  { value: "end", label: "Apologize and end the call" },
  { value: "transfer", label: "Apologize and transfer" },
] as const;
const UNRECOGNIZED_SPEECH = [
  { value: "line", label: "Ask on the telephone, not in a browser" },
  { value: "ask", label: "Ask the caller to repeat it" },
  { value: "ignore", label: "Ignore it" },
] as const;
const BACKCHANNELS = [
  { value: "ignore", label: "Ignore" },
  { value: "reply", label: "Reply" },
] as const;

export interface SectionProps {
  readonly draft: AgentDraft;
  readonly onChange: (draft: AgentDraft) => void;
  /** What the server said is wrong with a field, by its path. */
  readonly wrongAt: (path: string) => string | undefined;
}

interface Section {
  readonly id: string;
  readonly title: string;
  readonly Content: ComponentType<SectionProps>;
}

/** The paths of the API's fields say in which tab a fault is shown: the first prefix that fits. */
const TAB_OF_PATH = [
  ["persona.stockPhrases", "advanced"],
  ["persona.keyterms", "model"],
  ["persona.pronunciations", "voice"],
  ["persona.languages", "voice"],
  ["persona.languageTexts", "voice"],
  ["persona.briefingLanguage", "voice"],
  ["persona.outbound", "channels"],
  ["preCall", "channels"],
  ["persona", "prompt"],
  ["tts", "voice"],
  ["llm", "model"],
  ["stt", "model"],
  ["thresholds", "turns"],
  ["tools", "tools"],
  ["mcpServers", "tools"],
  ["allowedOrigins", "channels"],
  ["analysis", "analysis"],
  ["knowledge", "knowledge"],
] as const;

export interface AgentTab {
  readonly id: string;
  readonly title: string;
  readonly sections: readonly Section[];
}

export const AGENT_TABS: readonly [AgentTab, ...AgentTab[]] = [
  {
    id: "prompt",
    title: "Prompt",
    sections: [{ id: "persona", title: "Prompt", Content: PromptSection }],
  },
  {
    id: "voice",
    title: "Voice",
    sections: [
      { id: "voice", title: "Voice (TTS)", Content: VoiceSection },
      { id: "languages", title: "Other languages", Content: LanguagesSection },
    ],
  },
  {
    id: "model",
    title: "Model",
    sections: [
      { id: "llm", title: "LLM", Content: ThinkingSection },
      { id: "stt", title: "STT", Content: HearingSection },
    ],
  },
  {
    id: "turns",
    title: "Turn taking",
    sections: [{ id: "turns", title: "Turn taking", Content: TurnSection }],
  },
  {
    id: "tools",
    title: "Tools",
    sections: [
      { id: "tools", title: "Tools", Content: ToolsSection },
      { id: "mcp", title: "MCP servers", Content: McpSection },
    ],
  },
  {
    id: "knowledge",
    title: "Knowledge",
    sections: [{ id: "knowledge", title: "Knowledge", Content: KnowledgeSection }],
  },
  {
    id: "channels",
    title: "Phone and web",
    sections: [
      { id: "sites", title: "Public sites", Content: SitesSection },
      { id: "pre-call", title: "Request before the call", Content: PreCallSection },
      { id: "outbound", title: "Calls that it places", Content: OutboundSection },
    ],
  },
  {
    id: "analysis",
    title: "Analysis",
    sections: [{ id: "analysis", title: "Analysis after the call", Content: AnalysisSection }],
  },
  {
    id: "advanced",
    title: "Advanced",
    sections: [
      { id: "general", title: "General", Content: GeneralSection },
      { id: "fallbacks", title: "Fallbacks", Content: FallbacksSection },
      { id: "recording", title: "Recording", Content: RecordingSection },
      { id: "phrases", title: "Phrases", Content: PhrasesSection },
    ],
  },
];

export function tabOfPath(path: string): string {
  return TAB_OF_PATH.find(([prefix]) => path.startsWith(prefix))?.[1] ?? "advanced";
}

interface AgentSectionsProps {
  readonly tab: AgentTab;
  readonly draft: AgentDraft;
  readonly wrong: readonly { readonly path: string; readonly message: string }[];
  readonly onChange: (draft: AgentDraft) => void;
}

export function AgentSections({ tab, draft, wrong, onChange }: AgentSectionsProps) {
  const wrongAt = (path: string) => wrong.find((each) => each.path === path)?.message;
  return tab.sections.map(({ id, title, Content }) => (
    <section key={id} id={id} className="card stack" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      <Content draft={draft} onChange={onChange} wrongAt={wrongAt} />
    </section>
  ));
}

/** Which documents the agent looks things up in. */
function KnowledgeSection({ draft, onChange, wrongAt }: SectionProps) {
  const documents = useDocuments();
  const { documentIds } = draft.knowledge;
  const set = (id: string, isUsed: boolean) => {
    // What was deleted meanwhile has no box to be unticked.
    const others = documentIds.filter(
      (each) => each !== id && documents.data?.some((one) => one.id === each) === true,
    );
    onChange({ ...draft, knowledge: { documentIds: isUsed ? [...others, id] : others } });
  };
  const fault = [
    "knowledge.documentIds",
    ...documentIds.map((_, at) => `knowledge.documentIds.${at}`),
  ]
    .map(wrongAt)
    .find((message) => message !== undefined);
  return (
    <>
      <p className="soft">
        The agent answers from these documents. Small documents are part of its prompt; large ones
        are searched during each turn. <Link href="/knowledge">Knowledge</Link> has all of them.
      </p>
      <Loaded query={documents} what="The documents">
        {(all) =>
          all.length === 0 ? (
            <p>No documents yet.</p>
          ) : (
            all.map(({ id, name, status }) => (
              <CheckField
                key={id}
                label={name}
                hint={status === "ready" ? "" : DOCUMENT_STATES[status].words}
                value={documentIds.includes(id)}
                onChange={(isUsed) => set(id, isUsed)}
              />
            ))
          )
        }
      </Loaded>
      <Wrong message={fault} />
    </>
  );
}

function GeneralSection({ draft, onChange, wrongAt }: SectionProps) {
  return (
    <>
      <TextField
        label="Name"
        hint="For you and your colleagues."
        value={draft.name}
        onChange={(name) => onChange({ ...draft, name })}
        wrong={wrongAt("name")}
      />
      <CheckField
        label="Takes calls"
        hint="When off, callers are refused; calls in progress continue."
        value={draft.active}
        onChange={(active) => onChange({ ...draft, active })}
      />
    </>
  );
}

function SitesSection({ draft, onChange, wrongAt }: SectionProps) {
  return (
    <TextField
      label="Public at these sites"
      hint="Pages of these origins may call it without a token, such as https://shop.example.com. Separate origins with spaces. Empty: none."
      value={draft.allowedOrigins.join(" ")}
      onChange={(text) =>
        onChange({ ...draft, allowedOrigins: text === "" ? [] : text.split(" ") })
      }
      wrong={wrongAt("allowedOrigins") ?? wrongAt("allowedOrigins.0")}
    />
  );
}

const NEW_PRE_CALL = { url: "", timeoutMs: 2_000 };

/** The organization's service, which is asked about each call. */
function PreCallSection({ draft, onChange, wrongAt }: SectionProps) {
  const { preCall } = draft;
  const [text, setText] = useState("");
  const change = (changed: Partial<NonNullable<typeof preCall>>) =>
    onChange({ ...draft, preCall: { ...NEW_PRE_CALL, ...preCall, ...changed } });
  return (
    <>
      <CheckField
        label="Ask a service of yours before each call"
        hint="It answers variables, such as the caller’s name, and can override greeting, prompt, voice and language for the call."
        value={preCall !== null}
        onChange={(isOn) => onChange({ ...draft, preCall: isOn ? NEW_PRE_CALL : null })}
      />
      {preCall === null ? null : (
        <>
          <TextField
            label="URL of the service"
            value={preCall.url}
            onChange={(url) => change({ url })}
            wrong={wrongAt("preCall.url") ?? wrongAt("preCall")}
          />
          <NumberField
            label="Time limit, ms"
            hint="Then the call goes on without an answer. 100 to 3,000."
            value={preCall.timeoutMs}
            onChange={(timeoutMs) => change({ timeoutMs })}
            wrong={wrongAt("preCall.timeoutMs")}
          />
          <TextField
            label="Secret headers of the request"
            hint={preCallHeadersHint(preCall.headerNames)}
            isLong
            value={preCall.headers === undefined ? "" : text}
            onChange={(changed) => {
              setText(changed);
              const { headers: _before, ...rest } = preCall;
              const headers = headersOf(changed);
              const hasHeaders = changed.trim() !== "";
              onChange({ ...draft, preCall: hasHeaders ? { ...rest, headers } : rest });
            }}
            wrong={wrongAt("preCall.headers")}
          />
          <SigningSecretFields {...{ preCall, change }} wrong={wrongAt("preCall.secret")} />
        </>
      )}
    </>
  );
}

interface SigningSecretProps {
  readonly preCall: PreCallDraft;
  readonly change: (changed: Partial<PreCallDraft>) => void;
  readonly wrong: string | undefined;
}

/** The secret is typed or made here, and never shown again once it is saved. */
function SigningSecretFields({ preCall, change, wrong }: SigningSecretProps) {
  const [isMadeHere, setMadeHere] = useState(false);
  const { secret, isSigned = false } = preCall;
  const setSecret = (changed: PreCallDraft["secret"], isMade = false) => {
    setMadeHere(isMade);
    change({ secret: changed });
  };
  const isShown = isMadeHere && typeof secret === "string";
  const isOn = secret === undefined ? isSigned : secret !== null;
  return (
    <>
      <CheckField
        label="Sign the requests"
        hint="As webhooks are, so that the service can tell that they come from here."
        value={isOn}
        onChange={(sign) => {
          if (sign) setSecret(isSigned ? undefined : "");
          else setSecret(isSigned ? null : undefined);
        }}
      />
      {isOn ? (
        <>
          <TextField
            label="Signing secret"
            hint={
              isSigned
                ? "One is saved. Empty: it stays as it is."
                : "whsec_ and 24 to 64 bytes in base64."
            }
            type={isShown ? "text" : "password"}
            autoComplete="off"
            value={secret ?? ""}
            onChange={(text) => setSecret(text === "" && isSigned ? undefined : text)}
            wrong={wrong}
          />
          <div>
            <button
              type="button"
              className="button"
              onClick={() => setSecret(newSigningSecret(), true)}
            >
              {isSigned ? "Make a new secret" : "Make a secret"}
            </button>
          </div>
          {isShown ? (
            <p className="soft">Copy it to your service now: once saved, it is not shown again.</p>
          ) : null}
        </>
      ) : null}
    </>
  );
}

function preCallHeadersHint(names: readonly string[] = []): string {
  const saved = names.length === 0 ? "none" : names.join(", ");
  return `One a line, such as “authorization: Bearer …”. Saved: ${saved}. Empty: they stay as they are.`;
}

const WHILE_DETECTING = [
  { value: "greet", label: "Says its greeting" },
  { value: "wait", label: "Waits in silence" },
] as const;

/** What the agent says to machines that answer for people. */
function OutboundSection({ draft, onChange, wrongAt }: SectionProps) {
  const { persona } = draft;
  const { outbound } = persona;
  const change = (changed: Partial<typeof outbound>) =>
    onChange({ ...draft, persona: { ...persona, outbound: { ...outbound, ...changed } } });
  return (
    <>
      <TextField
        label="Message for answering machines"
        hint="Said after the beep; then the agent hangs up. Empty: it hangs up without a message. At most 1,000 characters."
        isLong
        value={outbound.voicemailMessage ?? ""}
        onChange={(text) => change({ voicemailMessage: text === "" ? null : text })}
        wrong={wrongAt("persona.outbound.voicemailMessage")}
      />
      <TextField
        label="Answer to call screening"
        hint="Said when a phone’s assistant asks who is calling and why. Empty: the names of the agent and of your organization. At most 300 characters."
        value={outbound.screeningAnswer ?? ""}
        onChange={(text) => change({ screeningAnswer: text === "" ? null : text })}
        wrong={wrongAt("persona.outbound.screeningAnswer")}
      />
      <SelectField
        label="Until the vendor knows whether a person answered"
        hint="It waits in any case if its greeting holds values of the call."
        value={outbound.whileDetecting}
        options={WHILE_DETECTING}
        onChange={(value) => change({ whileDetecting: value === "wait" ? "wait" : "greet" })}
        wrong={wrongAt("persona.outbound.whileDetecting")}
      />
    </>
  );
}

function PhrasesSection({ draft, onChange, wrongAt }: SectionProps) {
  const { persona } = draft;
  return (
    <StockPhraseFields
      phrases={persona.stockPhrases}
      change={(stockPhrases) => onChange({ ...draft, persona: { ...persona, stockPhrases } })}
      wrongAt={(key) => wrongAt(`persona.stockPhrases.${key}`)}
    />
  );
}

export function PromptSection({ draft, onChange, wrongAt }: SectionProps) {
  const { persona } = draft;
  const words = (
    field: Exclude<
      keyof typeof persona,
      | "stockPhrases"
      | "keyterms"
      | "pronunciations"
      | "languages"
      | "languageTexts"
      | "briefingLanguage"
      | "outbound"
    >,
  ) => ({
    value: persona[field],
    onChange: (value: string) => onChange({ ...draft, persona: { ...persona, [field]: value } }),
    wrong: wrongAt(`persona.${field}`),
  });
  return (
    <>
      <div className="prompt">
        <TextField
          label="Instructions"
          hint="What the agent is for and what it knows. Every thousand words add LLM time to each turn."
          isLong
          {...words("systemPrompt")}
        />
      </div>
      <TextField
        label="First sentence"
        hint="Said when the call is answered; synthesized in advance. Empty: the caller speaks first."
        {...words("greeting")}
      />
      <TextField label="Manner" hint="How it speaks, in a few words." {...words("personality")} />
      <TextField
        label="Rules of every answer"
        hint="Callers listen to short answers. Lists and symbols cannot be spoken."
        isLong
        {...words("guardrails")}
      />
      <div className="grid2">
        <TextField
          label="Language"
          hint="Of the caller, as a tag such as en-US or de-DE."
          {...words("language")}
        />
        <TextField
          label="Time zone"
          hint="Such as Europe/Berlin, for the date and time in the prompt."
          {...words("timeZone")}
        />
      </div>
    </>
  );
}

type Persona = AgentDraft["persona"];
type OwnPhrases = Persona["stockPhrases"];

const STOCK_PHRASES: readonly {
  readonly key: Exclude<keyof OwnPhrases, "waiting">;
  readonly label: string;
}[] = [
  { key: "apology", label: "No reply could be made" },
  { key: "notRecognized", label: "The STT returned no words" },
  { key: "stillThere", label: "The caller says nothing" },
  { key: "callerIdleGoodbye", label: "The call of a silent caller ends" },
  { key: "timeIsUp", label: "The call reaches its maximum length" },
  { key: "sttFailedApology", label: "The STT fails during the call" },
  { key: "cannotHearAtAll", label: "The STT never worked in the call" },
  { key: "interrupted", label: "A caller reconnects after a lost connection" },
  { key: "transferring", label: "A colleague transfers the call" },
  { key: "cannotTransfer", label: "A transfer failed" },
  { key: "lineBusy", label: "The line of a transfer is busy" },
  { key: "noAnswer", label: "The line of a transfer does not answer" },
  { key: "suspended", label: "The operator suspends the organization" },
  { key: "callEndedByOrganization", label: "A colleague ends the call" },
  { key: "briefingGreeting", label: "A warm transfer calls a person" },
  { key: "briefingQuestion", label: "That person is asked to accept" },
];

interface StockPhraseFieldsProps {
  readonly phrases: OwnPhrases;
  readonly change: (phrases: OwnPhrases) => void;
  /** What the server said is wrong with the phrase of that name. */
  readonly wrongAt: (key: string) => string | undefined;
}

/** What the agent says by itself: an empty field leaves the phrase of the language. */
function StockPhraseFields(props: StockPhraseFieldsProps) {
  const { phrases, change, wrongAt } = props;
  const { waiting, ...others } = phrases;
  return (
    <>
      <p className="soft">
        What the agent says by itself, in its own voice. Empty: the phrase of its language. At most
        300 characters each.
      </p>
      <LinesField
        label="A reply is late (filler phrases)"
        hint="One phrase per line, used in turn. At most 10."
        value={waiting ?? []}
        onChange={(lines) =>
          change(lines.length === 0 ? others : { ...others, waiting: [...lines] })
        }
        wrong={wrongInList(wrongAt, "waiting")}
      />
      {STOCK_PHRASES.map(({ key, label }) => (
        <TextField
          key={key}
          label={label}
          value={others[key] ?? ""}
          onChange={(text) => {
            const { [key]: _before, ...rest } = phrases;
            change(text === "" ? rest : { ...rest, [key]: text });
          }}
          wrong={wrongAt(key)}
        />
      ))}
    </>
  );
}

interface LinesFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly value: readonly string[];
  readonly onChange: (lines: readonly string[]) => void;
  readonly wrong: string | undefined;
  readonly isDisabled?: boolean;
}

/** A list with one entry a line. The text keeps its empty lines while it is edited; the list has none. */
function LinesField({ value, onChange, ...field }: LinesFieldProps) {
  const [text, setText] = useState(value.join("\n"));
  const isSame = JSON.stringify(linesOf(text)) === JSON.stringify(value);
  return (
    <TextField
      {...field}
      isLong
      value={isSame ? text : value.join("\n")}
      onChange={(typed) => {
        setText(typed);
        onChange(linesOf(typed));
      }}
    />
  );
}

function linesOf(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** What the server said is wrong with a list, or with the first of its entries that is wrong. */
function wrongInList(
  wrongAt: (path: string) => string | undefined,
  path: string,
): string | undefined {
  const entries = Array.from({ length: LINES_MAX }, (_, index) => wrongAt(`${path}.${index}`));
  return wrongAt(path) ?? entries.find((message) => message !== undefined);
}

/** No list has more lines than the API takes entries. */
const LINES_MAX = 100;

export function RecordingSection({ draft, onChange, wrongAt }: SectionProps) {
  const { recording } = draft;
  return (
    <>
      <CheckField
        label="Record calls"
        hint="Both sides, each on its own channel. In many places callers must be told: say so in the first sentence."
        value={recording.enabled}
        onChange={(enabled) => onChange({ ...draft, recording: { ...recording, enabled } })}
      />
      <NumberField
        label="Kept for, in days"
        hint="After that a recording is deleted. 1 to 3,650."
        value={recording.retentionDays}
        onChange={(retentionDays) =>
          onChange({ ...draft, recording: { ...recording, retentionDays } })
        }
        wrong={wrongAt("recording.retentionDays")}
      />
    </>
  );
}

const NEW_ANALYSIS = {
  successCriteria: "The caller got what they called for.",
  minDurationSec: 0,
  sampleRate: 1,
};
const PERCENT = 100;

/** What an LLM takes out of the transcript when a call is over. */
export function AnalysisSection({ draft, onChange, wrongAt }: SectionProps) {
  const { analysis } = draft;
  const [schemaText, setSchemaText] = useState(() => schemaTextOf(analysis?.schema));
  const change = (changed: AnalysisDraft) =>
    onChange({ ...draft, analysis: { ...analysis, ...changed } });
  const without = (field: "schema" | "successCriteria") => {
    const { [field]: _dropped, ...rest } = analysis ?? {};
    onChange({ ...draft, analysis: rest });
  };
  const isSound = schemaText.trim() === "" || schemaOf(schemaText) !== undefined;
  return (
    <>
      <CheckField
        label="Analyze calls"
        hint="An LLM reads the transcript of each call when it is over. The call’s page shows the result."
        value={analysis !== null}
        onChange={(isOn) => onChange({ ...draft, analysis: isOn ? NEW_ANALYSIS : null })}
      />
      {analysis === null ? null : (
        <>
          <TextField
            label="A call is a success when"
            hint="In plain words. Empty: only the data is extracted."
            isLong
            value={analysis.successCriteria ?? ""}
            onChange={(successCriteria) =>
              successCriteria === "" ? without("successCriteria") : change({ successCriteria })
            }
            wrong={wrongAt("analysis.successCriteria") ?? wrongAt("analysis")}
          />
          <TextField
            label="Data to extract, as JSON Schema"
            hint="An object whose fields become columns of the exported calls. Empty: no data."
            isLong
            value={schemaText}
            onChange={(text) => {
              setSchemaText(text);
              const schema = schemaOf(text);
              if (schema !== undefined) change({ schema });
              else if (text.trim() === "") without("schema");
            }}
            wrong={isSound ? wrongAt("analysis.schema") : "expected a JSON object; not saved yet"}
            placeholder='{ "type": "object", "properties": { "topic": { "type": "string" } } }'
          />
          <NumberField
            label="Shortest call, in seconds"
            hint="Shorter calls are not analyzed."
            value={analysis.minDurationSec ?? NEW_ANALYSIS.minDurationSec}
            onChange={(minDurationSec) => change({ minDurationSec })}
            wrong={wrongAt("analysis.minDurationSec")}
          />
          <NumberField
            label="Share of calls, in percent"
            hint="0 to 100."
            value={(analysis.sampleRate ?? NEW_ANALYSIS.sampleRate) * PERCENT}
            onChange={(percent) => change({ sampleRate: percent / PERCENT })}
            wrong={wrongAt("analysis.sampleRate")}
          />
        </>
      )}
    </>
  );
}

function schemaTextOf(schema: unknown): string {
  return schema === undefined ? "" : JSON.stringify(schema, null, 2);
}

/** Undefined where it is no JSON object; the server judges the rest. */
function schemaOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
