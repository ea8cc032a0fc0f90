#!/bin/sh
# Removes from a node_modules folder what this machine's Node never loads: uWebSockets.js of other systems and versions
# (128 MB), what SQLite was compiled from, and packages' type declarations and source maps. Run it with the Node that is to run Parley.
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
  kept=better-sqlite3-node20 other=better-sqlite3
  binary=build/Release/better_sqlite3.node
else
  kept=better-sqlite3 other=better-sqlite3-node20
  system=$(node -p 'process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime ? "linuxmusl" : process.platform')
  binary=prebuilds/$system-$(node -p process.arch).node
fi
binary="$modules/$kept/$binary"
# A plain folder is from an installation of an earlier version: what lies beside it is not SQLite's alone.
if [ ! -L "$modules/$kept" ] || [ ! -f "$binary" ]; then
  echo "prune-binaries.sh: SQLite has no binary at $binary: node deploy/packages/install.mjs makes it" >&2
  exit 1
fi
packages=$(dirname "$(readlink -f "$modules/$kept")")
rm -rf "${modules:?}/$other" "${packages:?}/$other"
find "$packages" -type f -name '*.node' ! -samefile "$binary" -delete
rm -rf "${packages:?}/$kept/deps" "${packages:?}/$kept/src"
if [ -d "$packages/$kept/build" ]; then
  find "$packages/$kept/build" -type f ! -samefile "$binary" -delete
fi
# What is left of the packages is loaded by SQLite, or compiled it.
for package in "$packages"/*; do
  case $(basename "$package") in
    "$kept" | bindings | file-uri-to-path) ;;
    *) rm -rf "$package" ;;
  esac
done
find "$packages" -xtype l -delete
find "$packages" -mindepth 1 -type d -empty -delete

# Compilers and debuggers read these; Node does not.
find "$modules/" -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.map' \) -delete
