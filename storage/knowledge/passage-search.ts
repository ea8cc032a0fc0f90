import { sql } from "kysely";
import { type FoundPassage, IS_CURRENT } from "./found-passage.js";

/** A term in more of the documents' passages than this says little about any of them, and is counted no further. */
export const TERM_PASSAGES_MAX = 500;
/** Passages that all terms of a search may have together. The rarest terms come first; the others are left out. */
export const SEARCH_HITS_MAX = 4_000;
/** The rarest terms, which are searched even if they stand in more passages. */
const RAREST_TERMS = 2;
/** Ranges of the index that a search reads for each term. Documents that lie further apart share a range. */
const RANGES_MAX = 4;

export interface PassageQuery {
  readonly documentIds: readonly string[];
  readonly terms: readonly string[];
  readonly limit: number;
}

/** The first and the last `sequence` of passages that lie together in the index. */
export interface SequenceRange {
  readonly first: number;
  readonly last: number;
}

/** Chooses terms of `counted`. They weigh as in BM25, for terms that a passage either has or lacks. */
const CHOSEN = sql`select ranked.term,
    ln(1 + (case when total.passages > ranked.n then total.passages - ranked.n else 0 end + 0.5) / (ranked.n + 0.5))
      as weight
  from total, (select term, n, row_number() over rarest as place, sum(n) over rarest as hits
    from counted where n > 0 window rarest as (order by n, term rows unbounded preceding)) as ranked
  where ranked.place <= ${sql.lit(RAREST_TERMS)}
    or (ranked.n <= ${sql.lit(TERM_PASSAGES_MAX)} and ranked.hits <= ${sql.lit(SEARCH_HITS_MAX)})`;

/** Terms that are common need not be counted to the end. */
const COUNTED_MAX = sql.lit(TERM_PASSAGES_MAX + 1);

/** Returns where the index has each of the documents' current content. */
export function documentRanges(orgId: string, documentIds: readonly string[]) {
  return sql<SequenceRange>`select min(p.sequence) as first, max(p.sequence) as last from knowledgeDocuments d
    join knowledgePassages p on p.documentId = d.id
      and p.position in (d.firstPosition, d.firstPosition + d.passages - 1)
    where d.orgId = ${orgId} and d.id in (${sql.join(documentIds)}) group by d.id`;
}

/** Joins the ranges with the smallest gaps between them until at most `max` are left. */
export function joinRanges(
  ranges: readonly SequenceRange[],
  max = RANGES_MAX,
): readonly SequenceRange[] {
  const sorted = ranges.toSorted((one, other) => one.first - other.first);
  const gaps = sorted
    .slice(1)
    .map(({ first }, index) => first - (sorted[index]?.last ?? first))
    .toSorted((one, other) => one - other);
  // A gap of 1 or less joins neighbours, which costs nothing.
  const widestJoined = Math.max(1, gaps[sorted.length - max - 1] ?? 1);
  const joined: SequenceRange[] = [];
  for (const range of sorted) {
    const before = joined.at(-1);
    if (before === undefined || range.first - before.last > widestJoined) joined.push(range);
    else joined.push({ first: joined.pop()?.first ?? 0, last: Math.max(before.last, range.last) });
  }
  return joined;
}

/**
 * Looks up each term by itself in the ranges of the index. SQLite's `bm25` would first read all passages of the
 * organization that have any of the terms.
 */
export function searchSqlite(
  orgId: string,
  { documentIds, terms, limit }: PassageQuery,
  ranges: readonly SequenceRange[],
) {
  const inRanges = (term: ReturnType<typeof sql>) => sql`ranges cross join knowledgeIndex f
    where f.knowledgeIndex match '"' || ${term} || '"' and f.rowid between ranges.first and ranges.last`;
  return sql<FoundPassage>`with ranges as materialized (
      select value ->> 'first' as first, value ->> 'last' as last from json_each(${JSON.stringify(ranges)})
    ), total as (
      select coalesce(sum(passages), 0) as passages from knowledgeDocuments
      where orgId = ${orgId} and id in (${sql.join(documentIds)})
    ), counted as materialized (
      select wanted.value as term, (select count(*) from
        (select 1 from ${inRanges(sql`wanted.value`)} limit ${COUNTED_MAX})) as n
      from json_each(${JSON.stringify(terms)}) as wanted
    ), chosen as materialized (${CHOSEN}
    ), scores as materialized (
      select f.rowid as sequence, sum(chosen.weight) as score
      from chosen cross join ${inRanges(sql`chosen.term`)} group by f.rowid
    )
    select p.documentId, d.name as documentName, p.position - d.firstPosition as position, p.text from scores
    cross join knowledgePassages p on p.sequence = scores.sequence
    join knowledgeDocuments d on d.id = p.documentId
    where p.orgId = ${orgId} and d.orgId = ${orgId} and p.documentId in (${sql.join(documentIds)}) and ${IS_CURRENT}
    order by scores.score desc, p.sequence limit ${limit}`;
}

/**
 * Uses the indexes whatever the planner believes of a table that has just been filled. The costs that it then expects would
 * have it compile the statement each time.
 */
export const WITH_INDEX = sql`select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`;

/**
 * Looks up the postings of each term. How many passages they have is known without reading them, and the passages
 * themselves are read only once they are found.
 */
export function searchPostgres(orgId: string, { documentIds, terms, limit }: PassageQuery) {
  return sql<FoundPassage>`with documents as materialized (
      select d.sequence, d.id, d.name, d."firstPosition" as first, d.passages from "knowledgeDocuments" d
      where d."orgId" = ${orgId} and d.id in (${sql.join(documentIds)})
    ), total as (select coalesce(sum(passages), 0) as passages from documents
    ), postings as materialized (
      select k.term, k.document, k.positions, d.first, d.passages
      from documents d join "knowledgePostings" k on k.document = d.sequence
        and k.last >= d.first and k.first < d.first + d.passages
      where k.term = any(string_to_array(${terms.join(" ")}, ' '))
    ), counted as materialized (
      select term, least(sum(cardinality(positions)), ${COUNTED_MAX}) as n from postings group by term
    ), chosen as materialized (${CHOSEN}
    ), scores as materialized (
      select postings.document, at.position, sum(chosen.weight) as score
      from chosen join postings using (term) cross join lateral unnest(postings.positions) as at(position)
      where at.position >= postings.first and at.position < postings.first + postings.passages
      group by postings.document, at.position order by score desc, postings.document, at.position limit ${limit}
    )
    select d.id as "documentId", d.name as "documentName", scores.position - d.first as position, p.text
    from scores join documents d on d.sequence = scores.document
    join "knowledgePassages" p on p."documentId" = d.id and p.position = scores.position and p."orgId" = ${orgId}
    order by scores.score desc, scores.document, scores.position`;
}
