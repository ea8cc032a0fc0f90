#!/bin/sh
# Removes from a node_modules folder what this machine's Node never loads: uWebSockets.js of other systems and versions
# (128 MB), and what SQLite was compiled from. Run it with the Node that is to run Parley.
#   prune-binaries.sh [FOLDER]     ./node_modules unless it is given
set -eu
modules=${1:-node_modules}

front_ends="$modules/uWebSockets.js/dist/bin"
own=$(node -p '["uws", process.platform, process.arch, process.versions.modules].join("_")').node
if [ ! -f "$front_ends/$own" ]; then
  echo "prune-binaries.sh: $front_ends has no $own: nothing of it is kept for this Node" >&2
fi
find "$front_ends" -type f -name '*.node' ! -name "$own" -delete

sqlite="$modules/better-sqlite3"
if [ ! -f "$sqlite/build/Release/better_sqlite3.node" ]; then
  echo "prune-binaries.sh: $sqlite has no binary: npm rebuild better-sqlite3 makes it" >&2
  exit 1
fi
rm -rf "$sqlite/deps" "$sqlite/src"
find "$sqlite/build" -type f ! -name better_sqlite3.node -delete
find "$sqlite/build" -mindepth 1 -type d -empty -delete

# Node 24 and later take SQLite from this one, which comes compiled (storage/sqlite/sqlite-library.ts).
newer="$modules/better-sqlite3-node24"
if node -e 'process.exit(parseInt(process.versions.node, 10) >= 24 ? 1 : 0)'; then
  rm -rf "$newer"
else
  rm -rf "$newer/deps" "$newer/src" "$sqlite"
fi
