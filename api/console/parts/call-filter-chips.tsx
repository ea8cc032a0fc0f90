import { Search } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useSearchParams } from "wouter";
import { WORDS_CHARACTERS_MAX } from "../model/call-filters.js";
import type { ListedAgent } from "./call-rows.js";

interface Choice {
  readonly value: string;
  readonly label: string;
}

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
  const [search, setSearch] = useSearchParams();
  const choose = (name: string) => (value: string) =>
    setSearch((before) => {
      const next = new URLSearchParams(before);
      if (value === "") next.delete(name);
      else next.set(name, value);
      return next;
    });
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
      {chip("agent", "Agent", agentChoices)}
      {chip("status", "Outcome", OUTCOMES)}
      {chip("channel", "Channel", CHANNELS)}
      {chip("longer", "Length", LENGTHS)}
      {chip("waited", "Wait", WAITS)}
    </div>
  );
}

interface WordsFieldProps {
  readonly words: string;
  readonly onChange: (words: string) => void;
}

/** Looked for when they are entered, not letter by letter: what was said in many calls is read. */
function WordsField({ words, onChange }: WordsFieldProps) {
  const [typed, setTyped] = useState(words);
  const enter = (event: FormEvent) => {
    event.preventDefault();
    onChange(typed.trim());
  };
  return (
    <form role="search" className="words" onSubmit={enter}>
      <Search size={16} aria-hidden />
      <input
        type="search"
        aria-label="Words that were said"
        title="Among the latest 2,000 calls"
        placeholder="Words that were said"
        data-search
        maxLength={WORDS_CHARACTERS_MAX}
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          if (target.value === "" && words !== "") onChange("");
        }}
      />
    </form>
  );
}

interface ChipSelectProps {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function ChipSelect({ label, choices, value, onChange }: ChipSelectProps) {
  return (
    <select
      className="chip"
      aria-label={label}
      data-chosen={value !== ""}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.label}
        </option>
      ))}
    </select>
  );
}
