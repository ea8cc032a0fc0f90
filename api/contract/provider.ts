import * as v from "valibot";
import { VENDOR_FAULTS } from "../../engine/vendors/contracts.js";
import {
  Category,
  Count,
  choiceField,
  FreeForm,
  flagField,
  freeFormField,
  Id,
  idField,
  nameField,
  objectField,
  requestObject,
  Timestamp,
  textField,
  worded,
} from "./fields.js";

/** The longest public catalogue of one vendor is a third of this. */
const MODELS_MAX = 1_000;

const modelField = objectField("a model", {
  modelId: idField("the vendor's id of the model"),
  label: nameField("the model's name"),
  description: v.exactOptional(textField("about the model", 1_000)),
});
const modelsField = worded(
  v.pipe(
    v.array(modelField),
    v.maxLength(MODELS_MAX),
    v.description(`the models, a list of at most ${MODELS_MAX}`),
  ),
);

const credentialsField = freeFormField("the vendor's credentials such as apiKey");
const settingsField = freeFormField("settings of the vendor");

/** What people should know of a model before they rely on it. */
export const modelNoticeFields = {
  stage: v.picklist(["deprecated", "retiresSoon", "retired"]),
  retiresOn: v.pipe(
    v.nullable(v.string()),
    v.description("the first day without it, `YYYY-MM-DD`; null when the vendor has named none"),
  ),
  successor: v.pipe(v.nullable(v.string()), v.description("a model to use instead")),
};

export const ProviderBody = requestObject({
  category: choiceField("what the provider does", ["llm", "tts", "stt"]),
  providerKey: idField("the vendor's key in the registry"),
  name: nameField("the provider's name"),
  credentials: v.optional(credentialsField),
  models: modelsField,
  settings: v.optional(settingsField),
});

export const ProviderPatchBody = requestObject({
  name: v.optional(nameField("the provider's name")),
  active: v.optional(flagField("whether agents may use the provider")),
  credentials: v.optional(credentialsField),
  models: v.optional(modelsField),
  settings: v.optional(settingsField),
});

export const ProviderQuery = requestObject({
  client: v.optional(choiceField("only the own providers", ["true", "false"]), "false"),
});

export const ProviderModel = v.object({
  modelId: v.string(),
  label: v.string(),
  description: v.optional(v.string()),
});

const ModelNotice = v.object({
  modelId: v.string(),
  ...modelNoticeFields,
});

export const ProviderLastTest = v.pipe(
  v.nullable(
    v.object({
      ok: v.boolean(),
      latencyMs: Count,
      error: v.pipe(v.nullable(v.string()), v.description("null where the vendor answered")),
      at: Timestamp,
    }),
  ),
  v.description(
    "how the newest test went; null: not tested since its credentials, models or settings were changed",
  ),
);

export const Provider = v.object({
  _id: Id,
  orgId: v.pipe(v.nullable(Id), v.description("null: the platform's own, open to everybody")),
  category: Category,
  providerKey: v.string(),
  name: v.string(),
  models: v.array(ProviderModel),
  settings: FreeForm,
  active: v.boolean(),
  simulated: v.pipe(
    v.boolean(),
    v.description(
      "the sandbox simulates the vendor: no key is used, and real speech is not recognized",
    ),
  ),
  hasKey: v.pipe(v.boolean(), v.description("a key of the vendor is stored, sealed")),
  breaker: v.pipe(
    v.picklist(["closed", "open", "halfOpen"]),
    v.description("`open`: its vendor has failed, and calls use the agent's fallbacks first"),
  ),
  recentFailures: v.pipe(
    Count,
    v.description(
      "of the newest 20 answers, while the breaker is closed, in the process that is asked",
    ),
  ),
  lastFault: v.pipe(
    v.nullable(v.object({ fault: v.picklist(VENDOR_FAULTS), at: Timestamp })),
    v.description(
      "the vendor's newest failure since the process that is asked began, and what others told it",
    ),
  ),
  lastTest: ProviderLastTest,
  modelNotices: v.pipe(
    v.array(ModelNotice),
    v.description("models that the vendor has retired or will retire, as this release knows"),
  ),
  parameterCorrections: v.pipe(
    v.array(
      v.object({
        modelId: v.string(),
        parameter: v.string(),
        value: v.pipe(v.nullable(v.string()), v.description("what is sent instead")),
        sentAs: v.pipe(v.nullable(v.string()), v.description("the name it is sent under instead")),
        onlyWithTools: v.boolean(),
        at: Timestamp,
      }),
    ),
    v.description(
      "parameters that a model refused, and how it is asked since, in the process that is asked; with neither `value` nor `sentAs` the parameter is left out",
    ),
  ),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

export const RegistryEntry = v.object({
  category: Category,
  providerKey: v.string(),
  displayName: v.string(),
  requiresKey: v.boolean(),
  models: v.array(ProviderModel),
  settings: v.array(
    v.object({
      key: v.string(),
      label: v.string(),
      type: v.string(),
      required: v.boolean(),
      options: v.pipe(
        v.array(v.string()),
        v.description("the values that it takes; empty where it takes others"),
      ),
    }),
  ),
  createdAt: Timestamp,
});

export const ProviderInUse = v.object({
  code: v.literal("provider_in_use"),
  error: v.string(),
  agents: v.array(v.object({ _id: Id, name: v.string() })),
});
