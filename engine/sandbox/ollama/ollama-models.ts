const MODIFIED_AT = "2026-01-01T00:00:00.000000001Z";
const SIZE_BYTES = 2_019_393_189;
const DIGEST = "a80c4f17acd55265feec403c7aef86be0c25983ab279d83f3bcd3abbcb5b8b72";
const NAMES = ["llama3.2:latest", "qwen3:8b"];

const details = {
  parent_model: "",
  format: "gguf",
  family: "llama",
  families: ["llama"],
  parameter_size: "3.2B",
  quantization_level: "Q4_K_M",
};

/** `GET /api/tags`. The list is for clients that ask for one: chat takes any name. */
export function listedModels(): object {
  return { models: NAMES.map(listed) };
}

/** `GET /api/ps`: all are loaded. */
export function runningModels(): object {
  const expires_at = new Date(Date.now() + 300_000).toISOString();
  const models = NAMES.map((name) => {
    const { modified_at: _modified, ...model } = listed(name);
    return { ...model, expires_at, size_vram: SIZE_BYTES, context_length: 4096 };
  });
  return { models };
}

/** `POST /api/show`. */
export function shownModel(name: string): object {
  return {
    modelfile: `FROM ${name}`,
    parameters: "num_ctx 4096",
    template: "{{ .Prompt }}",
    details,
    model_info: { "general.architecture": "llama", "llama.context_length": 131_072 },
    capabilities: ["completion", "tools"],
    modified_at: MODIFIED_AT,
  };
}

function listed(name: string) {
  return { name, model: name, modified_at: MODIFIED_AT, size: SIZE_BYTES, digest: DIGEST, details };
}
