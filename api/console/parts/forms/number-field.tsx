import { useState } from "react";
import { Field, type FieldProps } from "./field.js";

interface NumberFieldProps extends FieldProps {
  readonly value: number;
  readonly onChange: (value: number) => void;
  readonly step?: number;
}

/** What is typed stays as it was typed; only a number gets on. */
export function NumberField({ value, onChange, step = 1, ...field }: NumberFieldProps) {
  const [typed, setTyped] = useState(String(value));
  const shown = Number(typed) === value ? typed : String(value);
  const [isOwn, setOwn] = useState(false);
  return (
    <Field {...field}>
      {(wired) => (
        <input
          {...wired}
          type="number"
          inputMode="decimal"
          step={step}
          value={isOwn ? typed : shown}
          onFocus={() => {
            setTyped(shown);
            setOwn(true);
          }}
          onBlur={() => setOwn(false)}
          onChange={({ target }) => {
            setTyped(target.value);
            if (target.value.trim() !== "" && Number.isFinite(Number(target.value))) {
              onChange(Number(target.value));
            }
          }}
        />
      )}
    </Field>
  );
}
