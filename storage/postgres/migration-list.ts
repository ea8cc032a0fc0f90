import type { Migration } from "kysely";
import * as firstTables from "./migrations/001-first-tables.js";
import * as totalsAndPatches from "./migrations/002-totals-and-patches.js";
import * as agentFallbacks from "./migrations/008-agent-fallbacks.js";
import * as publicAgents from "./migrations/009-public-agents.js";
import * as nodes from "./migrations/010-nodes.js";
import * as operators from "./migrations/011-operators.js";
import * as commitMarks from "./migrations/012-commit-marks.js";
import * as members from "./migrations/013-members.js";
import * as encryptionKeyCheck from "./migrations/014-encryption-key-check.js";
import * as callNumbers from "./migrations/015-call-numbers.js";
import * as conversationSummaries from "./migrations/016-conversation-summaries.js";

/**
 * Every migration by name; they run in the order of the names, and one that was released is never changed. The first two
 * make what SQLite's first seven do; from the eighth on, each of SQLite's has one here by the same name. What only several
 * servers need is PostgreSQL's alone.
 */
export const postgresMigrations: Readonly<Record<string, Migration>> = {
  "001-first-tables": firstTables,
  "002-totals-and-patches": totalsAndPatches,
  "008-agent-fallbacks": agentFallbacks,
  "009-public-agents": publicAgents,
  "010-nodes": nodes,
  "011-operators": operators,
  "012-commit-marks": commitMarks,
  "013-members": members,
  "014-encryption-key-check": encryptionKeyCheck,
  "015-call-numbers": callNumbers,
  "016-conversation-summaries": conversationSummaries,
};
