#!/bin/sh
# Builds the viewer page: bundles the script with hls.js and copies the other files.
# build-site.sh FOLDER
set -eu
[ $# -eq 1 ] || { echo "usage: build-site.sh FOLDER" >&2; exit 64; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/../../.."
site=deploy/livestream/front/site

node_modules/esbuild/bin/esbuild $site/main.ts --bundle --format=esm --target=es2022 --minify --legal-comments=none \
  --alias:hls.js=hls.js/dist/hls.light.min.mjs --log-level=warning --outfile="$out/main.js"
node_modules/esbuild/bin/esbuild $site/go-live.ts --bundle --format=esm --target=es2022 --minify --legal-comments=none \
  --log-level=warning --outfile="$out/go-live.js"
node_modules/esbuild/bin/esbuild $site/page.css --bundle --minify --log-level=warning --outfile="$out/page.css"
cp $site/index.html $site/go-live.html $site/icon.svg "$out/"
cat node_modules/hls.js/LICENSE node_modules/valibot/LICENSE* >"$out/licenses.txt"
# The user who serves the files is not the one who builds them.
chmod -R a+rX "$out"
