import { parentPort, workerData } from "node:worker_threads";
import * as v from "valibot";
import {
  DOCUMENT_FORMATS,
  documentText,
  SMALL_DOCUMENT_CHARACTERS_MAX,
  UnreadableDocument,
} from "./document-text.js";
import { passagesOf } from "./passages.js";
import { searchTerms } from "./search-terms.js";

/** Reads one document in its own thread, which `DocumentReader` starts and may terminate. */

/** Passages per message, so that no message blocks the thread of the calls for long. */
const PASSAGES_PER_MESSAGE = 20;
/** A document of 1,000,000 characters has some 1,500; many tiny sections make more, and each uses index space. */
const PASSAGES_MAX = 5_000;

const Work = v.object({
  orgId: v.string(),
  name: v.string(),
  format: v.picklist(DOCUMENT_FORMATS),
  bytes: v.instance(Uint8Array),
  charset: v.optional(v.string()),
});

const { orgId, name, format, bytes, charset } = v.parse(Work, workerData);
const text = await documentText(format, bytes, charset);
if (text instanceof UnreadableDocument) {
  parentPort?.postMessage({ kind: "unreadable", reason: text.reason });
} else {
  const passages = passagesOf(text);
  if (passages.length > PASSAGES_MAX) {
    const most = PASSAGES_MAX.toLocaleString("en-US");
    parentPort?.postMessage({
      kind: "unreadable",
      reason: `has more than ${most} sections: split it`,
    });
    process.exit();
  }
  for (let start = 0; start < passages.length; start += PASSAGES_PER_MESSAGE) {
    const some = passages.slice(start, start + PASSAGES_PER_MESSAGE).map((passage) => ({
      text: passage,
      // Callers often ask for the name of a document.
      terms: searchTerms(orgId, `${name}\n${passage}`),
    }));
    parentPort?.postMessage({ kind: "passages", passages: some });
  }
  const whole = text.length <= SMALL_DOCUMENT_CHARACTERS_MAX ? text : null;
  parentPort?.postMessage({ kind: "done", characters: text.length, text: whole });
}
