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

# SQLite: Node 20 needs the binary that was compiled for it, later ones the one of this system from the newer package
# (storage/sqlite/sqlite-library.ts).
if node -e 'process.exit(parseInt(process.versions.node, 10) >= 22 ? 1 : 0)'; then
  kept="$modules/better-sqlite3-node20" other="$modules/better-sqlite3"
  binary="$kept/build/Release/better_sqlite3.node"
else
  kept="$modules/better-sqlite3" other="$modules/better-sqlite3-node20"
  binary=$(node -p '
    const isMusl = process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
    `${process.argv[1]}/prebuilds/${process.platform}${isMusl ? "musl" : ""}-${process.arch}.node`' "$kept")
fi
if [ ! -f "$binary" ]; then
  echo "prune-binaries.sh: SQLite has no binary at $binary: node deploy/packages/install.mjs makes it" >&2
  exit 1
fi
packages=$(dirname "$(readlink -f "$kept")")
find "$packages" -type f -name '*.node' ! -samefile "$binary" -delete
rm -rf "$kept/deps" "$kept/src" "$other"
# What is left of the packages is loaded by SQLite, or compiled it.
for package in "$packages"/*; do
  case $(basename "$package") in
    better-sqlite3 | better-sqlite3-node20 | bindings | file-uri-to-path) ;;
    *) rm -rf "$package" ;;
  esac
done
find "$packages" -xtype l -delete
find "$kept/" -mindepth 1 -type d -empty -delete
