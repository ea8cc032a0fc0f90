import { type Kysely, sql } from "kysely";
import type { Tables } from "../tables.js";
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

const FOUND = sql`p.${sql.ref("documentId")}, d.${sql.ref("name")} as ${sql.ref("documentName")},
  p.${sql.ref("position")} - d.${sql.ref("firstPosition")} as ${sql.ref("position")}, p.${sql.ref("text")}`;

function ownedBy(orgId: string, documentIds: readonly string[]) {
  return sql`p.${sql.ref("orgId")} = ${orgId} and d.${sql.ref("orgId")} = ${orgId}
    and p.${sql.ref("documentId")} in (${sql.join(documentIds)}) and ${IS_CURRENT}`;
}

/** How many passages the documents have. */
function totalOf(orgId: string, documentIds: readonly string[]) {
  return sql`select coalesce(sum(d.passages), 0) as passages from ${sql.table("knowledgeDocuments")} d
    where d.${sql.ref("orgId")} = ${orgId} and d.id in (${sql.join(documentIds)})`;
}

/** Chooses terms of `counted`. They weigh as in BM25, for terms that a passage either has or lacks. */
const CHOSEN = sql`select ranked.term,
    ln(1 + (case when total.passages > ranked.n then total.passages - ranked.n else 0 end + 0.5) / (ranked.n + 0.5))
      as weight
  from total, (select term, n, row_number() over rarest as place, sum(n) over rarest as hits
    from counted where n > 0 window rarest as (order by n, term rows unbounded preceding)) as ranked
  where ranked.place <= ${sql.lit(RAREST_TERMS)}
    or (ranked.n <= ${sql.lit(TERM_PASSAGES_MAX)} and ranked.hits <= ${sql.lit(SEARCH_HITS_MAX)})`;

const COUNTED_MAX = sql.lit(TERM_PASSAGES_MAX + 1);

/** Returns where the index has each of the documents' current content. */
export async function documentRanges(
  db: Kysely<Tables>,
  orgId: string,
  documentIds: readonly string[],
): Promise<SequenceRange[]> {
  const { rows } =
    await sql<SequenceRange>`select min(p.sequence) as first, max(p.sequence) as last from knowledgeDocuments d
      join knowledgePassages p on p.documentId = d.id
        and p.position in (d.firstPosition, d.firstPosition + d.passages - 1)
      where d.orgId = ${orgId} and d.id in (${sql.join(documentIds)}) group by d.id`.execute(db);
  return [...rows];
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
    ), total as (${totalOf(orgId, documentIds)}
    ), counted as materialized (
      select wanted.value as term, (select count(*) from
        (select 1 from ${inRanges(sql`wanted.value`)} limit ${COUNTED_MAX})) as n
      from json_each(${JSON.stringify(terms)}) as wanted
    ), chosen as materialized (${CHOSEN}
    ), scores as materialized (
      select f.rowid as sequence, sum(chosen.weight) as score
      from chosen cross join ${inRanges(sql`chosen.term`)} group by f.rowid
    )
    select ${FOUND} from scores
    cross join knowledgePassages p on p.sequence = scores.sequence
    join knowledgeDocuments d on d.id = p.documentId
    where ${ownedBy(orgId, documentIds)}
    order by scores.score desc, p.sequence limit ${limit}`;
}

/**
 * Uses the index whatever the planner prefers for a small table: splitting the terms of each passage takes far longer. The
 * costs that it then expects would have it compile the statement each time.
 */
export const WITH_INDEX = sql`select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`;

/** Whether most of the organization's passages belong to the documents. */
export async function areMostPassages(
  db: Kysely<Tables>,
  orgId: string,
  documentIds: readonly string[],
): Promise<boolean> {
  const { rows } = await sql<{ readonly isMost: boolean }>`select coalesce(
      2 * sum(d.passages) filter (where d.id in (${sql.join(documentIds)})) >= sum(d.passages), false) as "isMost"
    from "knowledgeDocuments" d where d."orgId" = ${orgId}`.execute(db);
  return rows[0]?.isMost === true;
}

/**
 * Looks up each term by itself. Among few passages of the organization, the index is asked for their documents, too; among
 * most of them, that would take longer than to leave out the others.
 */
export function searchPostgres(
  orgId: string,
  { documentIds, terms, limit }: PassageQuery,
  areMost: boolean,
) {
  const ids = sql.join(documentIds);
  const having = sql`from "knowledgePassages" p where string_to_array(p.terms, ' ') @> array[wanted.term]`;
  // Without "offset 0" the planner may read all passages of the documents for each term.
  const found = areMost
    ? sql`select of_term.sequence from (select p.sequence, p."documentId" ${having} offset 0) as of_term
        where of_term."documentId" in (${ids})`
    : sql`select p.sequence ${having} and array[p."documentId"] && array[${ids}]::text[]`;
  return sql<FoundPassage>`with total as (${totalOf(orgId, documentIds)}
    ), hits as materialized (
      select wanted.term, found.sequence from unnest(string_to_array(${terms.join(" ")}, ' ')) as wanted(term)
      cross join lateral (${found} limit ${COUNTED_MAX}) as found
    ), counted as (select term, count(*) as n from hits group by term
    ), chosen as materialized (${CHOSEN}
    ), scores as materialized (
      select hits.sequence, sum(chosen.weight) as score from hits join chosen using (term) group by hits.sequence
    )
    select ${FOUND} from scores
    join "knowledgePassages" p on p.sequence = scores.sequence
    join "knowledgeDocuments" d on d.id = p."documentId"
    where ${ownedBy(orgId, documentIds)}
    order by scores.score desc, p.sequence limit ${limit}`;
}
