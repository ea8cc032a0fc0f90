import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import * as v from "valibot";
import { parse } from "yaml";
import { packageRoot } from "../../api/commands/livestream-local/package-root.js";
import { debianProgram } from "../../bench/stand/debian-program.js";
import { HEALTHY, NAMES, type Series } from "./healthy-series.js";

const FOLDER = join(packageRoot(), "deploy/prometheus");
const RULES = join(FOLDER, "alerts.yml");
const Rules = v.object({
  groups: v.array(
    v.object({
      name: v.string(),
      rules: v.array(
        v.object({
          alert: v.string(),
          labels: v.object({ severity: v.picklist(["page", "ticket"]) }),
          annotations: v.object({ summary: v.string(), action: v.string() }),
        }),
      ),
    }),
  ),
});

const Board = v.object({
  panels: v.array(v.object({ targets: v.optional(v.array(v.object({ expr: v.string() }))) })),
});

interface Case {
  /** Series in addition to a healthy server's; null for a Prometheus that has no series at all. */
  readonly changes: Series | null;
  readonly fires: readonly string[];
  /** When the alerts are evaluated; by default in the last minute of the hour. */
  readonly atMin?: number;
}

const CASES: Readonly<Record<string, Case>> = {
  "a healthy server": { changes: {}, fires: [] },
  "a server that stopped": { changes: { [NAMES.up]: "1x40 0x20" }, fires: ["ParleyDown"] },
  "a scrape that was missed": { changes: { [NAMES.up]: "1x50 0 1x9" }, fires: [], atMin: 51 },
  "nothing to watch": { changes: null, fires: ["ParleyUnwatched"] },
  "no new calls": { changes: { [NAMES.ready]: "1x50 0x10" }, fires: ["ParleyNotReady"] },
  "full for a moment": { changes: { [NAMES.ready]: "1x58 0x1" }, fires: [] },
  "a server that dies again and again": {
    changes: { [NAMES.started]: "1000x50 2000 3000 4000 5000x7" },
    fires: ["ParleyRestarts"],
  },
  "a server that was updated": { changes: { [NAMES.started]: "1000x50 2000x9" }, fires: [] },
  "a late event loop": {
    changes: { [NAMES.late]: "0.012x50 0.3x10" },
    fires: ["ParleyEventLoopLate"],
  },
  "one long collection of garbage": { changes: { [NAMES.late]: "0.012x58 0.3" }, fires: [] },
  "slow replies": {
    changes: { [NAMES.repliesWithin1]: "0+90x60" },
    fires: ["ParleyRepliesSlow"],
  },
  "two slow replies at night": {
    changes: {
      [NAMES.repliesWithin1]: "0x60",
      [NAMES.repliesWithin5]: "0x40 1x10 2x10",
      [NAMES.replies]: "0x40 1x10 2x10",
      [NAMES.replyCount]: "0x40 1x10 2x10",
    },
    fires: [],
  },
  "calls that are long set up": {
    changes: { [NAMES.setUpsWithin1]: "0x60" },
    fires: ["ParleyCallSetupSlow"],
  },
  "a vendor that fails": {
    changes: { [NAMES.vendorTimeouts]: "0+3x60" },
    fires: ["ParleyVendorFails"],
  },
  "a key that is refused for the first time": {
    changes: { [NAMES.vendorRefusals]: "_x55 1x5" },
    fires: ["ParleyVendorRefusesKey"],
  },
  "a key that is refused again": {
    changes: { [NAMES.vendorRefusals]: "7x55 8x5" },
    fires: ["ParleyVendorRefusesKey"],
  },
  "calls refused by a full server": {
    changes: { [NAMES.refusedByLoad]: "0+2x60" },
    fires: ["ParleyCallsRefused"],
  },
  "calls that break off": {
    changes: { [NAMES.callsThatBroke]: "0+1x60" },
    fires: ["ParleyCallsBreakOff"],
  },
  "one broken call of three": {
    changes: { [NAMES.callsThatBroke]: "0x48 1x12", [NAMES.callsThatEnded]: "0x48 2x12" },
    fires: [],
  },
  "callers who are not heard": {
    changes: { [NAMES.sttOutageSeconds]: "0+120x60" },
    fires: ["ParleyDoesNotHear"],
  },
  "documents that are searched too slowly": {
    changes: { [NAMES.lookupsLate]: "0+10x60" },
    fires: ["ParleyKnowledgeLate"],
  },
  "a slow disk": {
    changes: { [NAMES.storageWaiting]: "3x50 900x10" },
    fires: ["ParleyStorageQueues"],
  },
  "summaries that wait": {
    changes: { [NAMES.summaryAge]: "3000x40 4000x20" },
    fires: ["ParleyJobsWait"],
  },
  "deliveries that wait": {
    changes: { [NAMES.deliveriesQueued]: "40x40 8000x20" },
    fires: ["ParleyDeliveriesWait"],
  },
  "deliveries that are given up": {
    changes: { [NAMES.jobFailures]: "0+1x60" },
    fires: ["ParleyJobsFail"],
  },
  "call lists whose vendor takes no calls": {
    changes: { [NAMES.listsHeldByVendor]: "0x10 2x50" },
    fires: ["ParleyCallListsHeld"],
  },
  "a disk that is nearly full": {
    changes: { [NAMES.diskFree]: "1500000000x60" },
    fires: ["ParleyDiskFills"],
  },
  "a disk that will be full tomorrow": {
    changes: { [NAMES.diskFree]: "50000000000-100000000x60" },
    fires: ["ParleyDiskFills"],
  },
  "files that run out": {
    changes: { [NAMES.filesOpen]: "60000x60" },
    fires: ["ParleyFilesRunOut"],
  },
};

function promtool(...args: readonly string[]): void {
  const told = spawnSync(debianProgram("promtool"), args, { encoding: "utf8", cwd: FOLDER });
  assert.equal(told.status, 0, told.stdout + told.stderr);
}

test("promtool accepts the rules and the configuration", () => {
  promtool("check", "rules", RULES);
  promtool("check", "config", join(FOLDER, "prometheus.yml"));
});

test("promtool accepts every query of the dashboard", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-board-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const board = readFileSync(join(FOLDER, "../grafana/parley.json"), "utf8");
  const { panels } = v.parse(Board, JSON.parse(board));
  const questions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  assert.ok(questions.length > 10);
  const rules = questions.map((expr, index) => ({
    record: `board:question_${index}`,
    expr: expr.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".*"),
  }));
  const path = join(folder, "board.json");
  writeFileSync(path, JSON.stringify({ groups: [{ name: "board", rules }] }));
  promtool("check", "rules", path);
});

test("each case makes exactly its own alerts fire", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-alerts-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const tests = Object.entries(CASES).map(([name, { changes, fires, atMin = 59 }]) => ({
    name,
    interval: "1m",
    input_series: Object.entries(changes === null ? {} : { ...HEALTHY, ...changes }).map(
      ([each, values]) => ({ series: each, values }),
    ),
    promql_expr_test: [
      {
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: `${atMin}m`,
        exp_samples: fires.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
      },
    ],
  }));
  const path = join(folder, "alerts.test.json");
  // Valid, because JSON is a subset of YAML.
  writeFileSync(path, JSON.stringify({ rule_files: [RULES], evaluation_interval: "1m", tests }));
  promtool("test", "rules", path);
});

test("some case makes each rule fire", () => {
  const { groups } = v.parse(Rules, parse(readFileSync(RULES, "utf8")));
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  const fired = new Set(Object.values(CASES).flatMap(({ fires }) => fires));
  assert.deepEqual([...fired].sort(), alerts.toSorted());
});
