import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as v from "valibot";
import { parseAllDocuments } from "yaml";
import { packageRoot } from "../../api/commands/livestream-local/package-root.js";
import { ROUTES } from "../../api/contract/routes/route-table.js";
import { parseConfig } from "../../config.js";

const Labels = v.record(v.string(), v.string());
const Probe = v.strictObject({
  httpGet: v.strictObject({ path: v.string(), port: v.literal("http") }),
  periodSeconds: v.number(),
  failureThreshold: v.number(),
  timeoutSeconds: v.optional(v.number()),
});
const Deployment = v.looseObject({
  spec: v.looseObject({
    selector: v.object({ matchLabels: Labels }),
    template: v.object({
      metadata: v.object({ labels: Labels }),
      spec: v.looseObject({
        terminationGracePeriodSeconds: v.number(),
        containers: v.tuple([
          v.looseObject({
            ports: v.tuple([v.object({ name: v.literal("http"), containerPort: v.number() })]),
            env: v.tuple([v.looseObject({ name: v.literal("NODE_NAME") })]),
            startupProbe: Probe,
            livenessProbe: Probe,
            readinessProbe: Probe,
            lifecycle: v.looseObject({ preStop: v.looseObject({}) }),
          }),
        ]),
      }),
    }),
  }),
});

const text = readFileSync(join(packageRoot(), "deploy/kubernetes/parley.yaml"), "utf8");
const manifests = parseAllDocuments(text).map((document) => {
  assert.deepEqual(document.errors, []);
  return document.toJS() as unknown;
});
const Kinds = v.looseObject({ kind: v.string(), apiVersion: v.string() });

function manifest(kind: string): unknown {
  const found = manifests.filter((each) => v.parse(Kinds, each).kind === kind);
  assert.equal(found.length, 1, kind);
  return found[0];
}

const { spec } = v.parse(Deployment, manifest("Deployment"));
const pod = spec.template.spec;
const [container] = pod.containers;
const { data } = v.parse(v.looseObject({ data: Labels }), manifest("ConfigMap"));
const config = parseConfig({
  ...data,
  JWT_SECRET: "j".repeat(32),
  ENCRYPTION_KEY: "5a".repeat(32),
  DATABASE_URL: "postgres://parley@db.example.com/parley",
});

test("the pods use settings and probe routes that the server has", () => {
  assert.equal(config.isProduction, true);
  assert.equal(container.ports[0].containerPort, config.port);
  const paths: ReadonlySet<string> = new Set(Object.values(ROUTES).map(({ path }) => path));
  for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
    assert.ok(paths.has(probe.httpGet.path), probe.httpGet.path);
  }
});

test("a pod's termination grace period gives calls the time to end", () => {
  const preStopSec = 10;
  assert.match(JSON.stringify(container.lifecycle.preStop), /10_000/);
  const neededSec = preStopSec + config.drainTimeoutMs / 1_000 + 30;
  assert.ok(pod.terminationGracePeriodSeconds >= neededSec);
});

test("service, disruption budget and deployment select the same pods", () => {
  const { labels } = spec.template.metadata;
  const Service = v.looseObject({ spec: v.looseObject({ selector: Labels }) });
  const Budget = v.looseObject({
    spec: v.looseObject({ selector: v.object({ matchLabels: Labels }) }),
  });
  assert.deepEqual(v.parse(Service, manifest("Service")).spec.selector, labels);
  const budget = v.parse(Budget, manifest("PodDisruptionBudget"));
  assert.deepEqual(budget.spec.selector.matchLabels, labels);
  assert.deepEqual(spec.selector.matchLabels, labels);
});
