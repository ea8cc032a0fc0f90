import { WORDS_CHARACTERS_MAX } from "../../model/call-filters.js";
import { ChipSelect, type Choice, useAddressFilters, WordsField } from "../forms/filter-fields.js";
import type { ListedAgent } from "./call-rows.js";

const OUTCOMES: readonly Choice[] = [
  { value: "", label: "Any outcome" },
  { value: "active", label: "In progress" },
  { value: "completed", label: "Completed" },
  { value: "failed", label: "Failed" },
];
const CHANNELS: readonly Choice[] = [
  { value: "", label: "Any channel" },
  { value: "web", label: "Browser" },
  { value: "phone", label: "Telephone" },
];
const DIRECTIONS: readonly Choice[] = [
  { value: "", label: "Any direction" },
  { value: "inbound", label: "Inbound" },
  { value: "outbound", label: "Outbound" },
];
const LENGTHS: readonly Choice[] = [
  { value: "", label: "Any length" },
  { value: "30", label: "Longer than 30 s" },
  { value: "120", label: "Longer than 2 min" },
  { value: "600", label: "Longer than 10 min" },
];
const WAITS: readonly Choice[] = [
  { value: "", label: "Any wait" },
  { value: "1000", label: "Waited more than 1 s" },
  { value: "1500", label: "Waited more than 1.5 s" },
  { value: "2500", label: "Waited more than 2.5 s" },
];

/** The filters stand in the address, so that a link shows the same list. */
export function CallFilterChips({ agents }: { agents: readonly ListedAgent[] }) {
  const { search, choose } = useAddressFilters();
  const agentChoices = [
    { value: "", label: "Any agent" },
    ...agents.map(({ _id, name }) => ({ value: _id, label: name })),
  ];
  const needsAttention = search.get("attention") === "true";
  const chip = (name: string, label: string, choices: readonly Choice[]) => (
    <ChipSelect
      label={label}
      choices={choices}
      value={search.get(name) ?? ""}
      onChange={choose(name)}
    />
  );
  return (
    <div className="chips filters" role="group" aria-label="Filters">
      <WordsField
        key={search.get("words")}
        label="Words that were said"
        about="Among the latest 2,000 calls"
        charactersMax={WORDS_CHARACTERS_MAX}
        words={search.get("words") ?? ""}
        onChange={choose("words")}
      />
      <button
        type="button"
        className="chip"
        aria-pressed={needsAttention}
        onClick={() => choose("attention")(needsAttention ? "" : "true")}
      >
        Needs attention
      </button>
      <ChipSelect
        label="Agent"
        choices={agentChoices}
        isSteady
        value={search.get("agent") ?? ""}
        onChange={choose("agent")}
      />
      {chip("status", "Outcome", OUTCOMES)}
      {chip("channel", "Channel", CHANNELS)}
      {chip("direction", "Direction", DIRECTIONS)}
      {chip("longer", "Length", LENGTHS)}
      {chip("waited", "Wait", WAITS)}
    </div>
  );
}
