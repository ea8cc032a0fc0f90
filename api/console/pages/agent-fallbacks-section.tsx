import type { AgentDraft } from "../model/agent-draft.js";
import { useModels } from "../model/queries.js";
import { CheckField } from "../parts/forms/field.js";
import { NumberField } from "../parts/forms/number-field.js";
import { OrderedList } from "../parts/forms/ordered-list.js";
import { SETTING_COST_WORDS } from "../words/setting-costs.js";
import type { SectionProps } from "./agent-sections.js";
import { ModelField } from "./agent-vendor-sections.js";

type Fallbacks = AgentDraft["fallbacks"];
type Kind = Exclude<keyof Fallbacks, "hedging">;

/** As many of each kind as the API takes. */
const FALLBACKS_MAX = 3;
const KINDS = [
  { kind: "llm", title: "Language models", one: "language model" },
  { kind: "tts", title: "Voices", one: "voice" },
  { kind: "stt", title: "Recognizers", one: "recognizer" },
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
        Who is asked when a vendor fails, in this order. A call goes on with them without a word
        being lost. One whose vendor, and whose key, is another one helps most.
      </p>
      {KINDS.map((each) => (
        <FallbackList key={each.kind} {...props} {...each} />
      ))}
      <CheckField
        label="Asks the next language model too when the first is later than usual"
        hint="Who begins first goes on. The other is paid for in vain; the operator bounds what that may cost."
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
      {links.length === 0 ? <p className="soft">None: a call waits for its {one}.</p> : null}
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
          Add a {one}
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
