import { withBesideSpeech } from "../../model/agent-tools.js";
import { type McpServerDraft, newMcpAuth } from "../../model/mcp-servers.js";
import { SelectField, TextField } from "./field.js";
import { NumberField } from "./number-field.js";
import { BesideSpeechFields, SecretHeadersField } from "./tool-form.js";

const AUTHS = [
  { value: "none", label: "None, or headers" },
  { value: "bearer", label: "Bearer token" },
  { value: "clientCredentials", label: "Client credentials (OAuth 2.0)" },
];
const SAVED_STAYS = "Empty: the saved one stays as it is.";

interface McpServerFormProps {
  readonly server: McpServerDraft;
  readonly onChange: (server: McpServerDraft) => void;
  /** What the server said is wrong with a field. */
  readonly wrongAt: (field: string) => string | undefined;
}

export function McpServerForm({ server, onChange, wrongAt }: McpServerFormProps) {
  const { auth } = server;
  return (
    <>
      <div className="grid2">
        <TextField
          label="Name of the server"
          hint="Stands before the names of its tools."
          value={server.name}
          placeholder="crm"
          onChange={(name) => onChange({ ...server, name })}
          wrong={wrongAt("name")}
        />
        <NumberField
          label="Given up after, in ms"
          hint="Each tool call. 100 to 10,000."
          value={server.timeoutMs}
          onChange={(timeoutMs) => onChange({ ...server, timeoutMs })}
          wrong={wrongAt("timeoutMs")}
        />
      </div>
      <TextField
        label="Address"
        value={server.url}
        placeholder="https://mcp.example.com/mcp"
        onChange={(url) => onChange({ ...server, url })}
        wrong={wrongAt("url")}
      />
      <SelectField
        label="Authorization"
        value={auth.type}
        options={AUTHS}
        onChange={(type) => onChange({ ...server, auth: newMcpAuth(type) })}
        wrong={wrongAt("auth") ?? wrongAt("auth.type")}
      />
      <AuthFields server={server} onChange={onChange} wrongAt={wrongAt} />
      <SecretHeadersField
        headers={server.headers}
        onChange={(headers) => {
          const { headers: _before, ...rest } = server;
          onChange(headers === undefined ? rest : { ...rest, headers });
        }}
        wrong={wrongAt("headers")}
      />
      <TextField
        label="Allowed tools"
        hint="One a line, as the server names them. Empty: all."
        isLong
        value={(server.allowedTools ?? []).join("\n")}
        onChange={(text) =>
          onChange({ ...server, allowedTools: text === "" ? null : text.split("\n") })
        }
        wrong={wrongAt("allowedTools")}
      />
      <BesideSpeechFields
        beside={server}
        onChange={(beside) => onChange(withBesideSpeech(server, beside))}
        wrongAt={wrongAt}
      />
    </>
  );
}

function AuthFields({ server, onChange, wrongAt }: McpServerFormProps) {
  const { auth } = server;
  if (auth.type === "none") return null;
  if (auth.type === "bearer") {
    return (
      <TextField
        label="Token"
        hint={SAVED_STAYS}
        type="password"
        autoComplete="off"
        value={auth.token ?? ""}
        onChange={(token) =>
          onChange({ ...server, auth: token === "" ? { type: "bearer" } : { ...auth, token } })
        }
        wrong={wrongAt("auth.token")}
      />
    );
  }
  return (
    <>
      <TextField
        label="Token address"
        value={auth.tokenUrl}
        placeholder="https://auth.example.com/token"
        onChange={(tokenUrl) => onChange({ ...server, auth: { ...auth, tokenUrl } })}
        wrong={wrongAt("auth.tokenUrl")}
      />
      <div className="grid2">
        <TextField
          label="Client id"
          autoComplete="off"
          value={auth.clientId}
          onChange={(clientId) => onChange({ ...server, auth: { ...auth, clientId } })}
          wrong={wrongAt("auth.clientId")}
        />
        <TextField
          label="Client secret"
          hint={SAVED_STAYS}
          type="password"
          autoComplete="off"
          value={auth.clientSecret ?? ""}
          onChange={(clientSecret) => {
            const { clientSecret: _before, ...rest } = auth;
            const changed = clientSecret === "" ? rest : { ...rest, clientSecret };
            onChange({ ...server, auth: changed });
          }}
          wrong={wrongAt("auth.clientSecret")}
        />
      </div>
      <TextField
        label="Scope"
        hint="Can be empty."
        value={auth.scope ?? ""}
        onChange={(scope) => {
          const { scope: _before, ...rest } = auth;
          onChange({ ...server, auth: scope === "" ? rest : { ...rest, scope } });
        }}
        wrong={wrongAt("auth.scope")}
      />
    </>
  );
}
