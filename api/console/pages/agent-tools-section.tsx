import { toolsFault, withToolsText } from "../model/agent-draft.js";
import { newTool, TOOLS_MAX, type ToolDraft } from "../model/agent-tools.js";
import { SERVER_URL } from "../model/server-address.js";
import { TextField } from "../parts/forms/field.js";
import { OrderedList } from "../parts/forms/ordered-list.js";
import { ToolForm } from "../parts/forms/tool-form.js";
import type { SectionProps } from "./agent-sections.js";

const KINDS = [
  { type: "http", label: "Ask a service" },
  { type: "client", label: "Ask the page" },
  { type: "transfer", label: "Transfer" },
  { type: "hangup", label: "Hang up" },
  { type: "sendDigits", label: "Press keys" },
] as const;

export function ToolsSection(props: SectionProps) {
  const { draft, onChange } = props;
  const isText = draft.toolsText !== undefined;
  const fault = toolsFault(draft);
  return (
    <>
      <div className="row">
        <p className="soft" style={{ flex: "1 1 240px" }}>
          What the agent may do besides talking. The model is told of all of them with every
          question.
        </p>
        <button
          type="button"
          className="button"
          aria-pressed={isText}
          disabled={fault !== undefined}
          onClick={() =>
            onChange({
              ...draft,
              toolsText: isText ? undefined : JSON.stringify(draft.tools, null, 2),
            })
          }
        >
          Edit as JSON
        </button>
      </div>
      {isText ? <ToolsText {...props} /> : <ToolList {...props} />}
    </>
  );
}

function ToolsText({ draft, onChange, wrongAt }: SectionProps) {
  return (
    <TextField
      label="Tools, as JSON"
      hint={
        <>
          <a href={`${SERVER_URL}/api/docs`}>The API’s page</a> shows all fields. Secret headers
          stay as they are unless you write them anew.
        </>
      }
      isLong
      value={draft.toolsText ?? ""}
      onChange={(toolsText) => onChange(withToolsText(draft, toolsText))}
      wrong={toolsFault(draft) ?? wrongAt("tools")}
      placeholder='[{ "type": "hangup" }]'
    />
  );
}

function ToolList({ draft, onChange, wrongAt }: SectionProps) {
  const { tools } = draft;
  const setTools = (changed: readonly ToolDraft[]) => onChange({ ...draft, tools: changed });
  const isFree = (type: ToolDraft["type"]) =>
    type === "http" || type === "client" || tools.every((tool) => tool.type !== type);
  return (
    <>
      <OrderedList items={tools} isOrdered={false} onChange={setTools} nameOf={nameOf}>
        {(tool, index, change) => (
          <>
            <ToolForm
              tool={tool}
              onChange={change}
              wrongAt={(field) => wrongAt(`tools.${index}.${field}`)}
            />
            <Wrong message={wrongAt(`tools.${index}`)} />
          </>
        )}
      </OrderedList>
      <Wrong message={wrongAt("tools")} />
      <fieldset className="row">
        <legend>Add a tool</legend>
        {KINDS.map(({ type, label }) => (
          <button
            key={type}
            type="button"
            className="button"
            disabled={!isFree(type) || tools.length >= TOOLS_MAX}
            onClick={() => setTools([...tools, newTool(type)])}
          >
            {label}
          </button>
        ))}
      </fieldset>
    </>
  );
}

function Wrong({ message }: { message: string | undefined }) {
  return message === undefined ? null : <p className="wrong">{message}</p>;
}

function nameOf(tool: ToolDraft, index: number): string {
  if ("name" in tool) return tool.name === "" ? `tool ${index + 1}` : tool.name;
  return KINDS.find(({ type }) => type === tool.type)?.label ?? tool.type;
}
