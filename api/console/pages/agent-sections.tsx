import type { ComponentType } from "react";
import type { AgentDraft } from "../model/agent-draft.js";
import { FallbacksSection } from "./agent-fallbacks-section.js";
import { ToolsSection } from "./agent-tools-section.js";
import { TurnSection } from "./agent-turn-section.js";
import { HearingSection, ThinkingSection, VoiceSection } from "./agent-vendor-sections.js";
import { PersonaSection, RecordingSection } from "./agent-word-sections.js";

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

export const SECTIONS: readonly Section[] = [
  { id: "persona", title: "Persona", Content: PersonaSection },
  { id: "voice", title: "Voice", Content: VoiceSection },
  { id: "hearing", title: "Hearing", Content: HearingSection },
  { id: "thinking", title: "Thinking", Content: ThinkingSection },
  { id: "turns", title: "Turn taking", Content: TurnSection },
  { id: "tools", title: "Tools", Content: ToolsSection },
  { id: "fallbacks", title: "Fallbacks", Content: FallbacksSection },
  { id: "recording", title: "Recording", Content: RecordingSection },
];

interface AgentSectionsProps {
  readonly draft: AgentDraft;
  readonly wrong: readonly { readonly path: string; readonly message: string }[];
  readonly onChange: (draft: AgentDraft) => void;
}

export function AgentSections({ draft, wrong, onChange }: AgentSectionsProps) {
  const wrongAt = (path: string) => wrong.find((each) => each.path === path)?.message;
  return SECTIONS.map(({ id, title, Content }) => (
    <section key={id} id={id} className="card stack" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      <Content draft={draft} onChange={onChange} wrongAt={wrongAt} />
    </section>
  ));
}
