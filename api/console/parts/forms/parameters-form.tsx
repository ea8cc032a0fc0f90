import { useState } from "react";
import {
  isFields,
  PARAMETER_TYPES,
  type ParameterType,
  parametersOf,
  schemaOf,
  type ToolParameter,
} from "../../model/tool-parameters.js";
import { CheckField, SelectField, TextField } from "./field.js";
import { OrderedList } from "./ordered-list.js";

const TYPE_WORDS: Readonly<Record<ParameterType, string>> = {
  string: "Text",
  number: "Number",
  integer: "Whole number",
  boolean: "Yes or no",
};
const TYPES = PARAMETER_TYPES.map((value) => ({ value, label: TYPE_WORDS[value] }));
const NEW: ToolParameter = { name: "", type: "string", description: "", isRequired: true };

interface ParametersFormProps {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly onChange: (schema: Readonly<Record<string, unknown>>) => void;
  readonly wrong: string | undefined;
}

/** What the model gives a tool: a list, or its JSON Schema where that says more than a list can. */
export function ParametersForm({ schema, onChange, wrong }: ParametersFormProps) {
  const listed = parametersOf(schema);
  const [typed, setTyped] = useState(listed ?? []);
  if (listed === undefined) return <SchemaField {...{ schema, onChange, wrong }} />;
  // What has no name yet is not in the schema: it stays as it is typed, until the schema becomes another one.
  const isOwn = JSON.stringify(schemaOf(typed)) === JSON.stringify(schemaOf(listed));
  const parameters = isOwn ? typed : listed;
  const change = (changed: readonly ToolParameter[]) => {
    setTyped(changed);
    onChange(schemaOf(changed));
  };
  return (
    <fieldset className="stack tight">
      <legend>What the model has to give it</legend>
      {wrong === undefined ? null : <p className="wrong">{wrong}</p>}
      <OrderedList
        items={parameters}
        isOrdered={false}
        onChange={change}
        nameOf={({ name }, index) => (name === "" ? `parameter ${index + 1}` : name)}
      >
        {(parameter, _index, changeOne) => (
          <ParameterFields parameter={parameter} onChange={changeOne} />
        )}
      </OrderedList>
      <div>
        <button type="button" className="button" onClick={() => change([...parameters, NEW])}>
          Add a parameter
        </button>
      </div>
    </fieldset>
  );
}

interface ParameterFieldsProps {
  readonly parameter: ToolParameter;
  readonly onChange: (parameter: ToolParameter) => void;
}

function ParameterFields({ parameter, onChange }: ParameterFieldsProps) {
  return (
    <>
      <div className="grid2">
        <TextField
          label="Name of the parameter"
          value={parameter.name}
          placeholder="orderNumber"
          onChange={(name) => onChange({ ...parameter, name })}
        />
        <SelectField
          label="Kind"
          value={parameter.type}
          options={TYPES}
          onChange={(chosen) => {
            const type = PARAMETER_TYPES.find((each) => each === chosen) ?? "string";
            onChange({ ...parameter, type });
          }}
        />
      </div>
      <TextField
        label="What it is"
        value={parameter.description}
        placeholder="The number on the invoice, without blanks"
        onChange={(description) => onChange({ ...parameter, description })}
      />
      <CheckField
        label="Always needed"
        value={parameter.isRequired}
        onChange={(isRequired) => onChange({ ...parameter, isRequired })}
      />
    </>
  );
}

function SchemaField({ schema, onChange, wrong }: ParametersFormProps) {
  const [text, setText] = useState(() => JSON.stringify(schema, null, 2));
  const [isSound, setSound] = useState(true);
  return (
    <TextField
      label="What the model has to give it, as JSON Schema"
      hint="It says more than a form could show."
      isLong
      value={text}
      wrong={isSound ? wrong : "expected an object, in JSON: what was there before is kept"}
      onChange={(changed) => {
        setText(changed);
        const value = parsed(changed);
        setSound(isFields(value));
        if (isFields(value)) onChange(value);
      }}
    />
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
