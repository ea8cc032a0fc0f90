import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { answered, api, wordsOfFault } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import { queryClient, useEmbeddings, useProviders } from "../model/queries.js";
import { ConfirmButton } from "./forms/confirm-dialog.js";
import { SelectField, TextField } from "./forms/field.js";
import { FormDialog } from "./forms/form-dialog.js";
import { Loaded } from "./states.js";

type Embeddings = Answered<"getEmbeddings">;

const FIELDS = ["providerId", "modelId", "dimensions"];

async function renewEmbeddings(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ["embeddings"] });
  await queryClient.invalidateQueries({ queryKey: ["documents"] });
}

/** Whether documents are found by meaning, and by whose model. */
export function EmbeddingsCard() {
  const embeddings = useEmbeddings();
  const [isChoosing, setChoosing] = useState(false);
  return (
    <section className="card stack" aria-labelledby="embeddings-title">
      <h2 id="embeddings-title">Search by meaning</h2>
      <Loaded query={embeddings} what="The embedding model">
        {(data) => <Progress embeddings={data} />}
      </Loaded>
      {embeddings.data === undefined ? null : (
        <div className="row">
          <button type="button" className="button" onClick={() => setChoosing(true)}>
            {embeddings.data.providerId === null ? "Choose a model" : "Change the model"}
          </button>
          {embeddings.data.providerId === null ? null : (
            <ConfirmButton
              action="Switch off"
              name="embeddings"
              consequence="All vectors are removed. Documents are then found by their words alone."
              keep="Keep them"
              act={() => answered(api.DELETE("/api/dashboard/knowledge/embeddings"))}
              onDone={renewEmbeddings}
            />
          )}
        </div>
      )}
      {isChoosing && embeddings.data !== undefined ? (
        <ModelDialog embeddings={embeddings.data} onClose={() => setChoosing(false)} />
      ) : null}
    </section>
  );
}

function Progress({ embeddings }: { embeddings: Embeddings }) {
  const { providerId, modelId, dimensions, passages, embeddedPassages, tokens, error } = embeddings;
  if (providerId === null) {
    return (
      <p className="soft">
        Off: documents are found by their words. With an embedding model, “sofa” also finds “couch”.
        Documents and callers’ questions are then sent to the model’s provider.
      </p>
    );
  }
  return (
    <>
      <p>
        <bdi>{modelId}</bdi>, {dimensions} dimensions. {embeddedPassages} of {passages} passages are
        embedded, with {tokens} tokens counted.
      </p>
      {error === null ? null : (
        <p>
          <span className="state fault">stopped</span>: {error}. Documents are found by their words
          meanwhile.
        </p>
      )}
    </>
  );
}

function ModelDialog({ embeddings, onClose }: { embeddings: Embeddings; onClose: () => void }) {
  const providers = useProviders();
  const own = (providers.data ?? []).filter(
    ({ orgId, category }) => orgId !== null && category === "llm",
  );
  const [providerId, setProviderId] = useState(embeddings.providerId ?? "");
  const [modelId, setModelId] = useState(embeddings.modelId ?? "");
  const [dimensions, setDimensions] = useState(embeddings.requestedDimensions?.toString() ?? "");
  const choose = useMutation({
    mutationFn: () =>
      answered(
        api.POST("/api/dashboard/knowledge/embeddings", {
          body: {
            providerId,
            modelId,
            // What is not a number is refused by the server as 0 is.
            dimensions: dimensions.trim() === "" ? null : Number(dimensions) || 0,
          },
        }),
      ),
    onSuccess: async () => {
      await renewEmbeddings();
      onClose();
    },
  });
  const wrongAt = (path: string) => wordsOfFault(choose.error, path);
  return (
    <FormDialog
      title="Choose an embedding model"
      action={choose.isPending ? "Trying it…" : "Try and save"}
      isBusy={choose.isPending || providerId === ""}
      error={choose.error}
      markedPaths={FIELDS}
      onSubmit={() => choose.mutate()}
      onClose={onClose}
    >
      <SelectField
        label="Provider"
        hint={
          <>
            One of <Link href="/providers">your own LLM providers</Link>, whose server has{" "}
            <code>/embeddings</code>.
          </>
        }
        wrong={wrongAt("providerId")}
        value={providerId}
        options={[
          { value: "", label: own.length === 0 ? "There is none yet" : "Choose one" },
          ...own.map(({ _id, name }) => ({ value: _id, label: name })),
        ]}
        onChange={setProviderId}
      />
      <TextField
        label="Model"
        hint="The provider’s name of it."
        placeholder="text-embedding-3-small"
        wrong={wrongAt("modelId")}
        value={modelId}
        onChange={setModelId}
        required
      />
      <TextField
        label="Dimensions"
        hint="Empty for the model’s own number. Fewer take less memory, if the model can shorten its vectors."
        wrong={wrongAt("dimensions")}
        value={dimensions}
        onChange={setDimensions}
      />
      <p className="soft">Another model embeds all documents anew. Calls go on meanwhile.</p>
    </FormDialog>
  );
}
