import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { answered, api } from "../../model/api.js";
import type { Answered } from "../../model/contract-paths.js";
import { useAgent, useMcpTools } from "../../model/queries.js";
import {
  type ArgumentField,
  argumentFieldsOf,
  type TypedArguments,
  typedArguments,
  typedFrom,
  valueOf,
} from "../../model/tool-arguments.js";
import { isFields } from "../../model/tool-parameters.js";
import { Fault } from "../states.js";
import { SelectField, TextField } from "./field.js";

type Fields = Readonly<Record<string, unknown>>;

interface TriedTool {
  readonly name: string;
  readonly parameters: Fields;
  /** Undefined for an HTTP tool. */
  readonly server?: string;
}

/** Runs a saved tool once, as a call would, and shows what was asked and what came of it. */
export function ToolTrials({ agentId }: { agentId: string }) {
  const agent = useAgent(agentId).data;
  const hasServers = (agent?.mcpServers.length ?? 0) > 0;
  const servers = useMcpTools(agentId, agent?.updatedAt, hasServers).data ?? [];
  const [chosen, setChosen] = useState("");
  const tools = [
    ...(agent?.tools ?? []).flatMap((tool): TriedTool[] =>
      tool.type === "http" ? [{ name: tool.name, parameters: tool.parameters }] : [],
    ),
    ...servers.flatMap(({ name: server, tools: offered }) =>
      offered.map(({ offeredAs, parameters }) => ({ name: offeredAs, parameters, server })),
    ),
  ];
  const tool = tools.find(({ name }) => name === chosen) ?? tools[0];
  if (tool === undefined) return null;
  return (
    <section className="card stack" aria-labelledby="tool-trials-title">
      <h2 id="tool-trials-title">Try a tool</h2>
      <p className="soft">It runs as it is saved, and its service does what it is asked.</p>
      <SelectField
        label="Tool"
        value={tool.name}
        onChange={setChosen}
        options={tools.map(({ name, server }) => ({
          value: name,
          label: server === undefined ? name : `${name} (MCP server ${server})`,
        }))}
      />
      <ToolTrial
        key={`${tool.name} ${agent?.updatedAt}`}
        agentId={agentId}
        tool={tool}
        names={agent?.variables ?? []}
      />
    </section>
  );
}

interface ToolTrialProps {
  readonly agentId: string;
  readonly tool: TriedTool;
  /** Names of the agent's variables. */
  readonly names: readonly string[];
}

function ToolTrial({ agentId, tool, names }: ToolTrialProps) {
  const fields = argumentFieldsOf(tool.parameters);
  const [typed, setTyped] = useState<TypedArguments>({});
  const [text, setText] = useState<string>();
  const [variables, setVariables] = useState<TypedArguments>({});
  const given = text === undefined ? typedArguments(fields, typed) : argumentsOf(text);
  const trial = useMutation({
    mutationFn: () =>
      answered(
        api.POST("/api/dashboard/agents/{id}/tool-tests", {
          params: { path: { id: agentId } },
          body: { name: tool.name, arguments: given ?? {}, variables },
        }),
      ),
  });
  const changeForm = () => {
    if (text === undefined) setText(JSON.stringify(given ?? {}, null, 2));
    else {
      setTyped(typedFrom(fields, given ?? {}));
      setText(undefined);
    }
  };
  return (
    <div className="stack">
      {text === undefined ? (
        <ArgumentFields fields={fields} typed={typed} onChange={setTyped} />
      ) : (
        <TextField
          label="Arguments, as JSON"
          isLong
          value={text}
          onChange={setText}
          wrong={given === undefined ? "expected an object, in JSON" : undefined}
        />
      )}
      {names.map((variable) => (
        <TextField
          key={variable}
          label={`Value of ${variable}`}
          value={variables[variable] ?? ""}
          onChange={(value) => setVariables({ ...variables, [variable]: value })}
        />
      ))}
      <div className="row">
        <button
          type="button"
          className="button"
          disabled={given === undefined || trial.isPending}
          onClick={() => trial.mutate()}
        >
          {trial.isPending ? "Running…" : "Run the tool"}
        </button>
        <button
          type="button"
          className="button"
          aria-pressed={text !== undefined}
          disabled={given === undefined}
          onClick={changeForm}
        >
          Write the arguments as JSON
        </button>
      </div>
      {trial.error === null ? null : <Fault error={trial.error} />}
      {trial.data === undefined ? null : <TrialOutcome outcome={trial.data} />}
    </div>
  );
}

function TrialOutcome({ outcome }: { outcome: Answered<"testAgentTool"> }) {
  const { ok, status, durationMs, request, content } = outcome;
  return (
    <div className="stack" role="status">
      <p>
        {ok ? "It worked" : "It failed"}
        {status === null ? "" : `, with status ${status}`}, in {durationMs} ms.
      </p>
      <h3>Request</h3>
      <pre className="wrapped" tabIndex={0} aria-label="Request">
        {JSON.stringify(request, null, 2)}
      </pre>
      <h3>Result for the LLM</h3>
      <pre className="wrapped" tabIndex={0} aria-label="Result for the LLM">
        {content}
      </pre>
    </div>
  );
}

interface ArgumentFieldsProps {
  readonly fields: readonly ArgumentField[];
  readonly typed: TypedArguments;
  readonly onChange: (typed: TypedArguments) => void;
}

function ArgumentFields({ fields, typed, onChange }: ArgumentFieldsProps) {
  if (fields.length === 0) return <p className="soft">The tool names no arguments.</p>;
  return fields.map((field) => (
    <OneArgument
      key={field.name}
      field={field}
      text={typed[field.name] ?? ""}
      onChange={(text) => onChange({ ...typed, [field.name]: text })}
    />
  ));
}

interface OneArgumentProps {
  readonly field: ArgumentField;
  readonly text: string;
  readonly onChange: (text: string) => void;
}

function OneArgument({ field, text, onChange }: OneArgumentProps) {
  const { name, kind, isRequired, choices } = field;
  const notes = [...(isRequired ? [] : ["optional"]), ...(kind === "json" ? ["JSON"] : [])];
  const label = notes.length === 0 ? name : `${name} (${notes.join(", ")})`;
  const hint = field.description === "" ? undefined : field.description;
  const shown = { label, value: text, onChange, ...(hint !== undefined && { hint }) };
  if (kind === "choice" || kind === "boolean") {
    const values = kind === "boolean" ? ["true", "false"] : choices;
    const options = values.map((value) => ({ value, label: value }));
    return <SelectField {...shown} options={[{ value: "", label: "Not given" }, ...options]} />;
  }
  const isWrong = text !== "" && valueOf(field, text) === undefined;
  const expected = kind === "number" ? "expected a number" : "expected a value in JSON";
  return <TextField {...shown} isLong={kind === "json"} wrong={isWrong ? expected : undefined} />;
}

function argumentsOf(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
