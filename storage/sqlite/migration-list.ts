import type { Migration } from "kysely";
import * as firstTables from "./migrations/001-first-tables.js";
import * as auditTrail from "./migrations/002-audit-trail.js";
import * as agentTools from "./migrations/003-agent-tools.js";
import * as recordings from "./migrations/004-recordings.js";
import * as phoneNumbers from "./migrations/005-phone-numbers.js";
import * as runClocks from "./migrations/006-run-clocks.js";
import * as dialTargets from "./migrations/007-dial-targets.js";
import * as agentFallbacks from "./migrations/008-agent-fallbacks.js";
import * as publicAgents from "./migrations/009-public-agents.js";
import * as operators from "./migrations/011-operators.js";
import * as members from "./migrations/013-members.js";
import * as encryptionKeyCheck from "./migrations/014-encryption-key-check.js";
import * as callNumbers from "./migrations/015-call-numbers.js";
import * as conversationSummaries from "./migrations/016-conversation-summaries.js";

/** Every migration by name; they run in the order of the names, and one that was released is never changed. */
export const migrations: Readonly<Record<string, Migration>> = {
  "001-first-tables": firstTables,
  "002-audit-trail": auditTrail,
  "003-agent-tools": agentTools,
  "004-recordings": recordings,
  "005-phone-numbers": phoneNumbers,
  "006-run-clocks": runClocks,
  "007-dial-targets": dialTargets,
  "008-agent-fallbacks": agentFallbacks,
  "009-public-agents": publicAgents,
  "011-operators": operators,
  "013-members": members,
  "014-encryption-key-check": encryptionKeyCheck,
  "015-call-numbers": callNumbers,
  "016-conversation-summaries": conversationSummaries,
};
