import { useState } from "react";
import {
  type BesideSpeech,
  besideSpeechOf,
  type ClientTool,
  type HttpTool,
  ON_DELAY_MS,
  type ToolDraft,
  withBesideSpeech,
} from "../../model/agent-tools.js";
import {
  isFields,
  PARAMETER_TYPES,
  type ParameterType,
  parametersOf,
  schemaOf,
  type ToolParameter,
} from "../../model/tool-parameters.js";
import { CheckField, SelectField, TextField } from "./field.js";
import { NumberField } from "./number-field.js";
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
      hint="It has more than a form can show."
      isLong
      value={text}
      wrong={isSound ? wrong : "expected a JSON object; the previous value is kept"}
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

interface ToolFormProps<Tool> {
  readonly tool: Tool;
  readonly onChange: (tool: Tool) => void;
  /** What the server said is wrong with a field of the tool. */
  readonly wrongAt: (field: string) => string | undefined;
}

const METHODS = [
  { value: "POST", label: "POST, as JSON" },
  { value: "GET", label: "GET, in the address" },
];

const BACKGROUNDS = [
  { value: "wait", label: "The agent waits for it", background: undefined },
  { value: "quiet", label: "The agent speaks on", background: "quiet" },
  { value: "reply", label: "The agent speaks on, and reports", background: "reply" },
] as const;

const TRANSFER_MODES = [
  { value: "blind", label: "Hand the caller on (blind)" },
  { value: "warm", label: "Ask the person first (warm)" },
] as const;

export function ToolForm({ tool, onChange, wrongAt }: ToolFormProps<ToolDraft>) {
  switch (tool.type) {
    case "hangup":
      return <ToolTitle title="Hang up" about="The agent may end the call after its goodbye." />;
    case "sendDigits":
      return <ToolTitle title="Press keys" about="The agent may send DTMF digits." />;
    case "transfer":
      return (
        <>
          <ToolTitle title="Transfer" about="The agent may transfer the call to a person." />
          <TextField
            label="Transfer to"
            hint="A number such as +15550100, or an address such as sip:desk@example.com."
            value={tool.to}
            onChange={(to) => onChange({ ...tool, to })}
            wrong={wrongAt("to")}
          />
          <TextField
            label="When to transfer"
            hint="In words for the model."
            value={tool.description ?? ""}
            onChange={(description) => {
              const { description: _before, ...rest } = tool;
              onChange(description === "" ? rest : { ...rest, description });
            }}
            wrong={wrongAt("description")}
          />
          <SelectField
            label="How"
            hint="A warm transfer first calls the person, tells them what the call is about, and connects the caller when they accept. At telephony vendors without it, and without an account, the transfer is blind."
            value={tool.mode ?? "blind"}
            options={TRANSFER_MODES}
            onChange={(value) => {
              const { mode: _before, ...rest } = tool;
              onChange(value === "warm" ? { ...rest, mode: "warm" } : rest);
            }}
            wrong={wrongAt("mode")}
          />
          <TextField
            label="What the person sees (optional)"
            hint="One of your numbers, such as +15550100, or caller: the caller’s own number where the telephony vendor shows it. Left empty, the number of the call."
            value={tool.callerId ?? ""}
            onChange={(callerId) => {
              const { callerId: _before, ...rest } = tool;
              onChange(callerId === "" ? rest : { ...rest, callerId });
            }}
            wrong={wrongAt("callerId")}
          />
        </>
      );
    case "http":
      return <HttpToolForm tool={tool} onChange={onChange} wrongAt={wrongAt} />;
    case "client":
      return <ClientToolForm tool={tool} onChange={onChange} wrongAt={wrongAt} />;
  }
}

function ToolTitle({ title, about }: { title: string; about: string }) {
  return (
    <div>
      <h3>{title}</h3>
      <p className="soft">{about}</p>
    </div>
  );
}

function HttpToolForm({ tool, onChange, wrongAt }: ToolFormProps<HttpTool>) {
  return (
    <>
      <ToolTitle
        title={tool.name === "" ? "Ask a service" : tool.name}
        about="The agent calls your service and uses its answer."
      />
      <NameFields tool={tool} onChange={onChange} wrongAt={wrongAt} />
      <div className="grid2">
        <SelectField
          label="Method"
          value={tool.method}
          options={METHODS}
          onChange={(method) => onChange({ ...tool, method: method === "GET" ? "GET" : "POST" })}
          wrong={wrongAt("method")}
        />
        <TimeoutField tool={tool} onChange={onChange} wrongAt={wrongAt} />
      </div>
      <TextField
        label="Address"
        value={tool.url}
        placeholder="https://shop.example.com/orders"
        onChange={(url) => onChange({ ...tool, url })}
        wrong={wrongAt("url")}
      />
      <ParametersForm
        schema={tool.parameters}
        onChange={(parameters) => onChange({ ...tool, parameters })}
        wrong={wrongAt("parameters")}
      />
      <SecretHeadersField
        headers={tool.headers}
        onChange={(headers) => {
          const { headers: _before, ...rest } = tool;
          onChange(headers === undefined ? rest : { ...rest, headers });
        }}
        wrong={wrongAt("headers")}
      />
      <FixedParametersField tool={tool} onChange={onChange} wrongAt={wrongAt} />
      <BesideSpeechFields
        beside={tool}
        onChange={(beside) => onChange(withBesideSpeech(tool, beside))}
        wrongAt={wrongAt}
      />
      <CheckField
        label="Say its answer as it is"
        hint="A text answer is spoken as it is and does not go to the LLM."
        value={tool.speak}
        onChange={(speak) => onChange({ ...tool, speak })}
      />
      <CheckField
        label="Send it the caller’s number"
        hint="Its requests have headers with the direction of the call, both numbers and the caller’s name."
        value={tool.sendCallInfo === true}
        onChange={(sendCallInfo) => onChange({ ...tool, sendCallInfo })}
      />
    </>
  );
}

function ClientToolForm({ tool, onChange, wrongAt }: ToolFormProps<ClientTool>) {
  return (
    <>
      <ToolTitle
        title={tool.name === "" ? "Ask the page" : tool.name}
        about="The caller’s page runs it, if the page offers it. It does not work on the telephone or in this console."
      />
      <NameFields tool={tool} onChange={onChange} wrongAt={wrongAt} />
      <ParametersForm
        schema={tool.parameters}
        onChange={(parameters) => onChange({ ...tool, parameters })}
        wrong={wrongAt("parameters")}
      />
      <TimeoutField tool={tool} onChange={onChange} wrongAt={wrongAt} />
      <BesideSpeechFields
        beside={tool}
        onChange={(beside) => onChange(withBesideSpeech(tool, beside))}
        wrongAt={wrongAt}
      />
    </>
  );
}

interface BesideSpeechFieldsProps {
  readonly beside: BesideSpeech;
  readonly onChange: (beside: BesideSpeech) => void;
  readonly wrongAt: (field: string) => string | undefined;
}

/** How the agent speaks while the tool runs. */
export function BesideSpeechFields({ beside, onChange, wrongAt }: BesideSpeechFieldsProps) {
  const { background, onDelayMs, cancellable } = beside;
  const sentence = (
    field: "onStart" | "onDelay" | "onFailure",
    { label, hint, placeholder }: { label: string; hint: string; placeholder: string },
  ) => (
    <TextField
      label={label}
      hint={hint}
      value={beside[field] ?? ""}
      placeholder={placeholder}
      onChange={(text) => {
        const { [field]: _before, ...rest } = beside;
        onChange(besideSpeechOf({ ...rest, ...(text !== "" && { [field]: text }) }));
      }}
      wrong={wrongAt(field)}
    />
  );
  return (
    <>
      <div className="grid2">
        {sentence("onStart", {
          label: "Said when it starts",
          hint: "If the LLM has said nothing. Can be empty.",
          placeholder: "One moment, I am looking.",
        })}
        <SelectField
          label="While it runs"
          value={background ?? "wait"}
          options={BACKGROUNDS}
          onChange={(chosen) => {
            const told = BACKGROUNDS.find(({ value }) => value === chosen)?.background;
            const { background: _before, ...rest } = beside;
            onChange(besideSpeechOf({ ...rest, ...(told && { background: told }) }));
          }}
          wrong={wrongAt("background")}
        />
        {sentence("onDelay", {
          label: "Said when it takes long",
          hint: "Once, when nobody speaks. Can be empty.",
          placeholder: "It takes a little longer.",
        })}
        <NumberField
          label="Takes long after, in ms"
          hint="500 to 10,000."
          value={onDelayMs ?? ON_DELAY_MS}
          onChange={(ms) => onChange(besideSpeechOf({ ...beside, onDelayMs: ms }))}
          wrong={wrongAt("onDelayMs")}
        />
        {sentence("onFailure", {
          label: "Said when it fails",
          hint: "Then the LLM gets the error. Can be empty.",
          placeholder: "I cannot look that up just now.",
        })}
      </div>
      <CheckField
        label="Abort it when the caller interrupts or hangs up"
        hint="Only for what may be left undone, such as a search."
        value={cancellable === true}
        onChange={(chosen) => onChange(besideSpeechOf({ ...beside, cancellable: chosen }))}
      />
    </>
  );
}

function NameFields<Tool extends HttpTool | ClientTool>({
  tool,
  onChange,
  wrongAt,
}: ToolFormProps<Tool>) {
  return (
    <>
      <TextField
        label="Name of the tool"
        hint="A letter, then letters, digits, _ or -."
        value={tool.name}
        placeholder={tool.type === "http" ? "findOrder" : "showOrder"}
        onChange={(name) => onChange({ ...tool, name })}
        wrong={wrongAt("name")}
      />
      <TextField
        label="What it does, and when to use it"
        hint="In words for the model."
        value={tool.description}
        onChange={(description) => onChange({ ...tool, description })}
        wrong={wrongAt("description")}
      />
    </>
  );
}

function TimeoutField<Tool extends HttpTool | ClientTool>({
  tool,
  onChange,
  wrongAt,
}: ToolFormProps<Tool>) {
  return (
    <NumberField
      label="Given up after, in ms"
      hint="The caller waits for it. 100 to 10,000."
      value={tool.timeoutMs}
      onChange={(timeoutMs) => onChange({ ...tool, timeoutMs })}
      wrong={wrongAt("timeoutMs")}
    />
  );
}

interface SecretHeadersFieldProps {
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Undefined: those that were saved stay. */
  readonly onChange: (headers: Readonly<Record<string, string>> | undefined) => void;
  readonly wrong: string | undefined;
}

/** Names and values, a line each; a value that was saved is never shown again. */
export function SecretHeadersField({ headers, onChange, wrong }: SecretHeadersFieldProps) {
  const [text, setText] = useState(() => linesOf(headers ?? {}));
  return (
    <TextField
      label="Secret headers"
      hint="One a line, such as “authorization: Bearer …”. Empty: those that were saved stay as they are."
      isLong
      value={headers === undefined ? "" : text}
      onChange={(changed) => {
        setText(changed);
        onChange(changed.trim() === "" ? undefined : headersOf(changed));
      }}
      wrong={wrong}
    />
  );
}

/** As the headers are typed, and as secret. */
function FixedParametersField({ tool, onChange, wrongAt }: ToolFormProps<HttpTool>) {
  const [text, setText] = useState(() => linesOf(tool.fixedParameters ?? {}));
  return (
    <TextField
      label="Fixed parameters"
      hint="One a line, such as “customer: {{customerId|none}}”. The model does not see them. Empty: those that were saved stay."
      isLong
      value={tool.fixedParameters === undefined ? "" : text}
      onChange={(changed) => {
        setText(changed);
        const { fixedParameters: _before, ...rest } = tool;
        onChange(changed.trim() === "" ? rest : { ...rest, fixedParameters: headersOf(changed) });
      }}
      wrong={wrongAt("fixedParameters")}
    />
  );
}

/** Headers from lines such as `name: value`. */
export function headersOf(text: string): Readonly<Record<string, string>> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const [name = "", ...value] = line.split(":");
      return [name.trim(), value.join(":").trim()];
    }),
  );
}

function linesOf(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
}
