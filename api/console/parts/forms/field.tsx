import { type ReactNode, useId } from "react";

export interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  /** What it was measured to cost or to gain, beside the hint. */
  readonly measured?: string | undefined;
  /** What the server said is wrong with it. */
  readonly wrong?: string | undefined;
}

interface Wired {
  readonly id: string;
  readonly "aria-describedby"?: string;
  readonly "aria-invalid"?: true;
}

/** A label, its control, what it does, and what is wrong with it, tied together for who does not see them. */
export function Field({
  label,
  hint,
  measured,
  wrong,
  children,
}: FieldProps & { children: (wired: Wired) => ReactNode }) {
  const id = useId();
  const hintId = `${id}hint`;
  const wrongId = `${id}wrong`;
  const hasHint = hint !== undefined || measured !== undefined;
  const described = [hasHint ? hintId : "", wrong === undefined ? "" : wrongId].join(" ");
  const wired: Wired = {
    id,
    ...(described.trim() === "" ? {} : { "aria-describedby": described.trim() }),
    ...(wrong === undefined ? {} : { "aria-invalid": true }),
  };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(wired)}
      {hasHint ? (
        <span className="hint" id={hintId}>
          {hint} <Measured words={measured} />
        </span>
      ) : null}
      {wrong === undefined ? null : (
        <span className="wrong" id={wrongId}>
          {wrong}
        </span>
      )}
    </div>
  );
}

function Measured({ words }: { words: string | undefined }) {
  return words === undefined ? null : <span className="measured">{words}</span>;
}

interface TextFieldProps extends FieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly type?: "text" | "email" | "password" | "tel" | "date" | "datetime-local";
  readonly autoComplete?: string;
  readonly isLong?: boolean;
  readonly isDisabled?: boolean;
  readonly required?: boolean;
  readonly placeholder?: string;
}

export function TextField({ value, onChange, isLong, type = "text", ...field }: TextFieldProps) {
  const { autoComplete, required, placeholder, isDisabled, ...shown } = field;
  return (
    <Field {...shown}>
      {(wired) =>
        isLong === true ? (
          <textarea
            {...wired}
            value={value}
            placeholder={placeholder}
            disabled={isDisabled}
            onChange={({ target }) => onChange(target.value)}
          />
        ) : (
          <input
            {...wired}
            type={type}
            value={value}
            placeholder={placeholder}
            autoComplete={autoComplete}
            disabled={isDisabled}
            required={required}
            onChange={({ target }) => onChange(target.value)}
          />
        )
      }
    </Field>
  );
}

interface SelectFieldProps extends FieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly isDisabled?: boolean;
}

export function SelectField({ value, onChange, options, isDisabled, ...field }: SelectFieldProps) {
  return (
    <Field {...field}>
      {(wired) => (
        <select
          {...wired}
          value={value}
          disabled={isDisabled}
          onChange={({ target }) => onChange(target.value)}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface CheckFieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly measured?: string;
  readonly value: boolean;
  readonly onChange: (value: boolean) => void;
  readonly isDisabled?: boolean;
}

export function CheckField(props: CheckFieldProps) {
  const { label, hint, measured, value, onChange, isDisabled } = props;
  const id = useId();
  return (
    <div className="field inline">
      <input
        id={id}
        type="checkbox"
        checked={value}
        disabled={isDisabled}
        aria-describedby={hint === undefined ? undefined : `${id}hint`}
        onChange={({ target }) => onChange(target.checked)}
      />
      <label htmlFor={id}>{label}</label>
      {hint === undefined ? null : (
        <span className="hint" id={`${id}hint`}>
          {hint} <Measured words={measured} />
        </span>
      )}
    </div>
  );
}
