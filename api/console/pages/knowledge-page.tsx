import { useMutation } from "@tanstack/react-query";
import { Link as LinkIcon, Upload } from "lucide-react";
import { useRef, useState } from "react";
import { Link } from "wouter";
import { answered, api, faultOf, fetchAsUser } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import { queryClient, useDocuments } from "../model/queries.js";
import { SERVER_URL } from "../model/server-address.js";
import { EmbeddingsCard } from "../parts/embeddings-card.js";
import { ConfirmButton } from "../parts/forms/confirm-dialog.js";
import { TextField } from "../parts/forms/field.js";
import { FormDialog } from "../parts/forms/form-dialog.js";
import { NumberField } from "../parts/forms/number-field.js";
import { Moment } from "../parts/moment.js";
import { PageHead } from "../parts/page-head.js";
import { Empty, Fault, Loaded } from "../parts/states.js";
import {
  DOCUMENT_STATES,
  embeddingWords,
  passagesWords,
  sizeWords,
} from "../words/document-words.js";

type Document = Answered<"listDocuments">[number];

const FILE_TYPES = ".md,.markdown,.txt,.html,.htm,.pdf";

async function upload(file: File): Promise<void> {
  const query = new URLSearchParams({ name: file.name });
  const url = `${SERVER_URL}/api/dashboard/knowledge/documents?${query}`;
  const response = await fetchAsUser(new Request(url, { method: "POST", body: file }));
  if (!response.ok) throw faultOf(response.status, await response.json());
}

const renewDocuments = () => queryClient.invalidateQueries({ queryKey: ["documents"] });

/** What agents can look up. */
export function KnowledgePage() {
  const documents = useDocuments();
  const [isAdding, setAdding] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const uploads = useMutation({
    mutationFn: async (files: readonly File[]) => {
      const refused: string[] = [];
      for (const file of files) {
        // One that is refused does not stop the others.
        await upload(file).catch((error: unknown) =>
          refused.push(`${file.name}: ${error instanceof Error ? error.message : String(error)}`),
        );
      }
      if (refused.length > 0) throw new Error(refused.join(" "));
    },
    onSettled: renewDocuments,
  });
  return (
    <>
      <PageHead
        title="Knowledge"
        about="Documents that your agents answer from. Choose them in the editor of each agent."
      >
        <button type="button" className="button" onClick={() => setAdding(true)}>
          <LinkIcon size={16} aria-hidden /> Add a web page
        </button>
        <button
          type="button"
          className="button main"
          disabled={uploads.isPending}
          onClick={() => input.current?.click()}
        >
          <Upload size={16} aria-hidden /> {uploads.isPending ? "Uploading…" : "Upload documents"}
        </button>
        <input
          ref={input}
          type="file"
          hidden
          multiple
          accept={FILE_TYPES}
          aria-label="Documents"
          onChange={({ target }) => {
            uploads.mutate([...(target.files ?? [])]);
            target.value = "";
          }}
        />
      </PageHead>
      {uploads.error === null ? null : <Fault error={uploads.error} />}
      <Loaded query={documents}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No documents yet">
              <p>
                Upload Markdown, text, HTML or PDF, or add a web page. An agent then answers from
                it.
              </p>
            </Empty>
          ) : (
            <DocumentTable documents={all} />
          )
        }
      </Loaded>
      <EmbeddingsCard />
      {isAdding ? <NewPage onClose={() => setAdding(false)} /> : null}
    </>
  );
}

function DocumentTable({ documents }: { documents: readonly Document[] }) {
  return (
    <div className="table">
      <table>
        <thead>
          <tr>
            <th scope="col">Document</th>
            <th scope="col">Status</th>
            <th scope="col" className="spare number">
              Size
            </th>
            <th scope="col" className="spare">
              Used by
            </th>
            <th scope="col">
              <span className="hidden">Change</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {documents.map((document) => (
            <DocumentRow key={document.id} document={document} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function DocumentRow({ document }: { document: Document }) {
  const { name, status, error, sizeBytes, passages, agents, source, fetchedAt } = document;
  const state = DOCUMENT_STATES[status];
  const embedded = embeddingWords(document.embedding, document.embeddedPassages);
  return (
    <tr>
      <td>
        <strong>
          <bdi className="clamped" title={name}>
            {name}
          </bdi>
        </strong>
        <div className="soft">
          {source === "url" ? "Web page" : "Upload"}
          {fetchedAt === null ? null : (
            <>
              , read <Moment at={fetchedAt} />
            </>
          )}
        </div>
      </td>
      <td>
        <span className={`state ${state.look}`}>{state.words}</span>
        {error === null ? null : <div className="soft">{error}</div>}
        {embedded === "" ? null : <div className="soft">{embedded}</div>}
      </td>
      <td className="spare number">
        {sizeWords(sizeBytes)}
        <div className="soft">{passagesWords(passages)}</div>
      </td>
      <td className="spare">
        {agents.length === 0 ? <span className="soft">no agent</span> : null}
        {agents.map((agent) => (
          <div key={agent.id}>
            <Link href={`/agents/${agent.id}?tab=knowledge`}>{agent.name}</Link>
          </div>
        ))}
      </td>
      <td className="number">
        <span className="row end">
          {source === "url" ? <FetchAgain document={document} /> : null}
          <DeleteDocument document={document} />
        </span>
      </td>
    </tr>
  );
}

function FetchAgain({ document: { id, name, status } }: { document: Document }) {
  const fetching = useMutation({
    mutationFn: () => {
      const params = { path: { id } };
      return answered(api.POST("/api/dashboard/knowledge/documents/{id}/refresh", { params }));
    },
    onSettled: renewDocuments,
  });
  return (
    <>
      <button
        type="button"
        className="button"
        aria-label={`Fetch ${name} again`}
        disabled={fetching.isPending || status === "processing"}
        onClick={() => fetching.mutate()}
      >
        Fetch again
      </button>
      {fetching.error === null ? null : <Fault error={fetching.error} />}
    </>
  );
}

function DeleteDocument({ document: { id, name } }: { document: Document }) {
  return (
    <ConfirmButton
      action="Delete"
      name={name}
      consequence="All that was read of it is deleted. Calls keep the passages that they used."
      keep="Keep it"
      act={() =>
        answered(
          api.DELETE("/api/dashboard/knowledge/documents/{id}", { params: { path: { id } } }),
        )
      }
      onDone={renewDocuments}
    />
  );
}

function NewPage({ onClose }: { onClose: () => void }) {
  const [url, setUrl] = useState("");
  const [refreshHours, setRefreshHours] = useState(24);
  const add = useMutation({
    mutationFn: () =>
      answered(api.POST("/api/dashboard/knowledge/urls", { body: { url, refreshHours } })),
    onSuccess: async () => {
      await renewDocuments();
      onClose();
    },
  });
  return (
    <FormDialog
      title="Add a web page"
      action="Add the page"
      isBusy={add.isPending}
      error={add.error}
      onSubmit={() => add.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Address"
        hint="Of one page, or of a PDF. It must be public; redirects are not followed."
        placeholder="https://example.com/opening-hours"
        value={url}
        onChange={setUrl}
        required
      />
      <NumberField
        label="Hours until it is fetched again"
        hint="0 fetches it once."
        step={1}
        value={refreshHours}
        onChange={setRefreshHours}
      />
    </FormDialog>
  );
}
