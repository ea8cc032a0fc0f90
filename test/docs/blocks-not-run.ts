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
    text: "MEDIAMTX=/usr/local/bin/mediamtx npm run livestream:local",
    reason:
      "needs MediaMTX; test/livestream-system/mediamtx-local.test.ts runs the command with an imitation",
  },
  {
    text: "npm run admin -- copy --to postgres://parley@db.example.com/parley",
    reason: "needs PostgreSQL; test/postgres-system/copy.test.ts runs the command",
  },
  {
    text: "cp deploy/asterisk/env.example deploy/asterisk/.env\ndocker compose -f deploy/asterisk/compose.yaml up -d --build",
    reason: "needs a container engine; test/deploy/asterisk.test.ts runs what its container starts",
  },
  {
    text: "docker compose -f deploy/livestream/compose.yaml up -d --build",
    reason: "needs a container engine",
  },
  {
    text: "apt-get install -y nodejs npm git nginx certbot make g++ python3\ncd /opt/parley && npm ci\nuseradd --system --home-dir /var/lib/parley --shell /usr/sbin/nologin parley",
    reason:
      "changes a whole machine: packages, certificates, services; test:deploy runs the unit and nginx",
  },
  {
    text: "systemctl stop nginx\ncertbot certonly --standalone -d voice.example.com --pre-hook \"systemctl stop nginx\" \\\n  --post-hook \"systemctl start nginx\"\nsed -e 's#/etc/ssl/certs/voice.example.com.pem#/etc/letsencrypt/live/voice.example.com/fullchain.pem#' \\\n  -e 's#/etc/ssl/private/voice.example.com.key#/etc/letsencrypt/live/voice.example.com/privkey.pem#' \\\n  deploy/nginx.conf > /etc/nginx/conf.d/parley.conf\nrm -f /etc/nginx/sites-enabled/default\nnginx -t && systemctl restart nginx",
    reason:
      "changes a whole machine: packages, certificates, services; test:deploy runs the unit and nginx",
  },
  {
    text: "cp deploy/parley.service /etc/systemd/system/\nsystemctl daemon-reload\nsystemctl enable --now parley\njournalctl -u parley -n 20\ncurl -s https://voice.example.com/api/ready",
    reason:
      "changes a whole machine: packages, certificates, services; test:deploy runs the unit and nginx",
  },
  {
    text: 'parley() {\n  systemd-run --quiet --pipe --wait --collect --uid=parley -p WorkingDirectory=/opt/parley \\\n    -p EnvironmentFile=/etc/parley.env -p Environment=NODE_ENV=production \\\n    -p Environment=DATA_DIR=/var/lib/parley /usr/bin/node "dist/api/commands/$1.js" "${@:2}"\n}\nparley admin setup --name "Acme" --email owner@example.com\nparley backup "/var/lib/parley/backup-$(date +%F).db"',
    reason:
      "changes a whole machine: packages, certificates, services; test:deploy runs the unit and nginx",
  },
  {
    text: "cloudflared tunnel --url http://127.0.0.1:8080",
    reason: "needs a tunnel's provider on the internet",
  },
  {
    text: "PUBLIC_BASE_URL=https://some-words.trycloudflare.com TRUSTED_PROXIES=127.0.0.1 npm start",
    reason: "needs a tunnel's provider on the internet",
  },
];

export function isNotRun({ text }: Block): boolean {
  return BLOCKS_NOT_RUN.some((each) => each.text === text);
}
