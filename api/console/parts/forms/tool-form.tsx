import { useState } from "react";
import type { ClientTool, HttpTool, ToolDraft } from "../../model/agent-tools.js";
import { CheckField, SelectField, TextField } from "./field.js";
import { NumberField } from "./number-field.js";
import { ParametersForm } from "./parameters-form.js";

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

export function ToolForm({ tool, onChange, wrongAt }: ToolFormProps<ToolDraft>) {
  switch (tool.type) {
    case "hangup":
      return <ToolTitle title="Hang up" about="The agent may end the call after its goodbye." />;
    case "sendDigits":
      return <ToolTitle title="Press keys" about="The agent may press keys of a telephone." />;
    case "transfer":
      return (
        <>
          <ToolTitle title="Transfer" about="The agent may pass the call on to a person." />
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
        about="The agent asks a service of yours, and goes on with what it answers."
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
      <HeadersField tool={tool} onChange={onChange} wrongAt={wrongAt} />
      <CheckField
        label="Say its answer as it is"
        hint="A text that it answers is spoken, in place of being given to the model."
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
        about="The caller’s own page does it, where it offers to. On the telephone and in this console nobody does."
      />
      <NameFields tool={tool} onChange={onChange} wrongAt={wrongAt} />
      <ParametersForm
        schema={tool.parameters}
        onChange={(parameters) => onChange({ ...tool, parameters })}
        wrong={wrongAt("parameters")}
      />
      <TimeoutField tool={tool} onChange={onChange} wrongAt={wrongAt} />
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

/** Names and values, a line each; a value that was saved is never shown again. */
function HeadersField({ tool, onChange, wrongAt }: ToolFormProps<HttpTool>) {
  const [text, setText] = useState(() => linesOf(tool.headers ?? {}));
  return (
    <TextField
      label="Secret headers"
      hint="One a line, such as “authorization: Bearer …”. Empty: those that were saved stay as they are."
      isLong
      value={tool.headers === undefined ? "" : text}
      onChange={(changed) => {
        setText(changed);
        const { headers: _before, ...rest } = tool;
        onChange(changed.trim() === "" ? rest : { ...rest, headers: headersOf(changed) });
      }}
      wrong={wrongAt("headers")}
    />
  );
}

function headersOf(text: string): Readonly<Record<string, string>> {
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
