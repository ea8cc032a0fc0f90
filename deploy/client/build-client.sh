#!/bin/sh
# Builds the browser's client for serving and for import: bundles it, compresses it and writes its types.
# build-client.sh FOLDER
set -eu
[ $# -eq 1 ] || { echo "usage: build-client.sh FOLDER" >&2; exit 64; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."

bundle() { # SOURCE FORMAT OUTPUT [OPTION...]
  source=$1 format=$2 output=$3
  shift 3
  node_modules/esbuild/bin/esbuild "$source" --bundle --format="$format" --target=es2022 --minify --legal-comments=none \
    --log-level=warning --outfile="$out/$output" "$@"
  gzip -9 -n -c "$out/$output" >"$out/$output.gz"
}

node_modules/.bin/tsc -p api/client --noCheck --checkers 1 --outDir "$out/types"
bundle api/client/browser/audio-worklet.ts iife audio-worklet.js
# The server serves the worklet under this path with unlimited caching, so the path contains a hash of the content.
version=$(node -p 'crypto.createHash("sha256").update(fs.readFileSync(process.argv[1])).digest("hex").slice(0, 12)' \
  "$out/audio-worklet.js.gz")
worklet="--define:PARLEY_WORKLET_PATH=\"/client/$version/audio-worklet.js\""
bundle api/client/client.ts esm parley-client.js "$worklet"
bundle api/widget/widget.ts iife widget.js "$worklet"
chmod -R a+rX "$out"
