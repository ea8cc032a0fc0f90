import { Search } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useSearchParams } from "wouter";

export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** Filters stand in the address, so that a link shows the same list. Another choice begins with the first page again. */
export function useAddressFilters() {
  const [search, setSearch] = useSearchParams();
  const choose = (name: string) => (value: string) =>
    setSearch((before) => {
      const next = new URLSearchParams(before);
      next.delete("page");
      if (value === "") next.delete(name);
      else next.set(name, value);
      return next;
    });
  return { search, choose };
}

interface WordsFieldProps {
  /** What they are looked for in. */
  readonly label: string;
  readonly about?: string;
  readonly charactersMax: number;
  readonly words: string;
  readonly onChange: (words: string) => void;
}

/** Looked for when they are entered, not letter by letter: the server reads much. */
export function WordsField({ label, about, charactersMax, words, onChange }: WordsFieldProps) {
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
        aria-label={label}
        title={about}
        placeholder={label}
        data-search
        maxLength={charactersMax}
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
  /** As wide before its choices are loaded as afterwards. */
  readonly isSteady?: boolean;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function ChipSelect({ label, choices, isSteady, value, onChange }: ChipSelectProps) {
  return (
    <select
      className={isSteady === true ? "chip steady" : "chip"}
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

interface DayFieldProps {
  readonly label: string;
  /** As `2026-01-31`; empty where none is chosen. */
  readonly day: string;
  readonly onChange: (day: string) => void;
}

export function DayField({ label, day, onChange }: DayFieldProps) {
  return (
    <label className="chip" data-chosen={day !== ""}>
      {label}
      <input type="date" value={day} onChange={({ target }) => onChange(target.value)} />
    </label>
  );
}
