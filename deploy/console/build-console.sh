#!/bin/sh
# Builds the console for the API server: bundles it and compresses each file once.
# build-console.sh FOLDER
set -eu
[ $# -eq 1 ] || { echo "usage: build-console.sh FOLDER" >&2; exit 64; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."

# File names contain a content hash, so browsers cache them without limit. Code that only some pages need is loaded with
# those pages.
node_modules/esbuild/bin/esbuild api/console/main.tsx --bundle --splitting --format=esm --target=es2022 --minify \
  --jsx=automatic --define:process.env.NODE_ENV=\"production\" --legal-comments=none --log-level=warning \
  --entry-names='[name]-[hash]' --chunk-names='[name]-[hash]' --outdir="$out"
node_modules/esbuild/bin/esbuild api/console/icon.svg --loader:.svg=copy --entry-names='[name]-[hash]' --log-level=warning \
  --outdir="$out"
gzip -9 -n "$out"/*.js "$out"/*.css "$out"/*.svg
cd node_modules
for package in react react-dom scheduler @tanstack/react-query @tanstack/react-virtual wouter regexparam uplot \
  wavesurfer.js openapi-fetch lucide-react; do
  echo "== $package"
  cat "$package"/LICENSE* 2>/dev/null || sed -n 's/^ *"license": *\(.*\),*$/\1/p' "$package/package.json"
done >"$out/licenses.txt"
chmod -R a+rX "$out"
