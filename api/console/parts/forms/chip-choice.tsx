interface ChipChoiceProps<Choice extends string | number> {
  /** What is chosen, for who cannot see it. */
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly chosen: Choice;
  readonly wordsOf: (choice: Choice) => string;
  readonly onChoose: (choice: Choice) => void;
}

/** One of a few, all of which are in sight. */
export function ChipChoice<Choice extends string | number>({
  label,
  choices,
  chosen,
  wordsOf,
  onChoose,
}: ChipChoiceProps<Choice>) {
  return (
    <div className="chips" role="group" aria-label={label}>
      {choices.map((each) => (
        <button
          key={each}
          type="button"
          className="chip"
          aria-pressed={each === chosen}
          onClick={() => onChoose(each)}
        >
          {wordsOf(each)}
        </button>
      ))}
    </div>
  );
}
