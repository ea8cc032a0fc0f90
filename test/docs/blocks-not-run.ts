import type { Block } from "./pages.js";

export interface NotRun {
  /** The whole block, or its only line. */
  readonly text: string;
  readonly reason: string;
}

/** Every block of commands in README.md and docs/ that the tests do not run. All others are run. */
export const BLOCKS_NOT_RUN: readonly NotRun[] = [
  {
    text: "npm ci && npm test",
    reason: "takes minutes, and the packages are installed already; .ci/run does both",
  },
  {
    text: "npm run check\nnpm test -- conversation\nnpm run test:rewrite",
    reason: "take minutes, or write into the sources; CI runs what check does",
  },
  {
    text: "apt-get install -y nginx libnginx-mod-rtmp ffmpeg wget chromium busybox-static shellcheck curl \\\n  openssl systemd python3-seccomp prometheus docker-compose postgresql pgbouncer\nnpm run test:docs\nnpm run test:livestream\nnpm run test:browser\nnpm run test:deploy\nnpm run test:postgres",
    reason: "installs Debian's packages; .ci/run does all of it",
  },
  {
    text: "npm run bench\nnpm run bench -- phone rest\nnpm run bench -- web phone --tls\nnpm run bench -- chain\nnpm run bench -- workers\nnpm run bench -- databases\nnpm run bench -- databases-rest\nnpm run bench -- killed-server\nnpm run bench -- killed-process --rounds=3\nnpm run bench -- phone workers --settle=90\nnpm run bench:gate\nnpm run bench:livestream",
    reason: "take a quiet machine and many minutes; .ci/run does bench:gate",
  },
  {
    text: "npm run attack\nnpm run attack -- --only kill-rounds,tenants --minutes 2 --seed 7\nnpm run attack -- --sample",
    reason: "the first takes ten minutes; .ci/run does the last",
  },
  {
    text: "apt-get install -y nginx libnginx-mod-rtmp ffmpeg\nnpm run livestream:local",
    reason:
      "needs Debian's packages; test/livestream-system/local-command.test.ts runs the command",
  },
  {
    text: "npm run admin -- copy --to postgres://parley@db.example.com/parley",
    reason: "needs PostgreSQL; test/postgres-system/copy.test.ts runs the command",
  },
  {
    text: "docker compose -f deploy/livestream/compose.yaml up -d --build",
    reason: "needs a container engine",
  },
];

export function isNotRun({ text }: Block): boolean {
  return BLOCKS_NOT_RUN.some((each) => each.text === text);
}
