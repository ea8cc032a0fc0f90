#!/bin/sh
# Removes the files that this machine's Node never loads from a node_modules folder: uWebSockets.js for other systems
# and versions (128 MB), the sources of SQLite, and packages' type declarations and source maps. Run it with the Node
# that will run Parley.
# prune-binaries.sh [FOLDER] (default: ./node_modules)
set -eu
modules=${1:-node_modules}

front_ends="$modules/uWebSockets.js/dist/bin"
own=$(node -p '["uws", process.platform, process.arch, process.versions.modules].join("_")').node
if [ ! -f "$front_ends/$own" ]; then
  echo "prune-binaries.sh: $front_ends has no $own: nothing of it is kept for this Node" >&2
fi
find "$front_ends" -type f -name '*.node' ! -name "$own" -delete

# Node 20 needs the SQLite binary that was compiled for it; later versions need this system's binary from the newer
# package (storage/sqlite/sqlite-library.ts).
if node -e 'process.exit(parseInt(process.versions.node, 10) >= 22 ? 1 : 0)'; then
  kept=better-sqlite3-node20 other=better-sqlite3
  binary=build/Release/better_sqlite3.node
else
  kept=better-sqlite3 other=better-sqlite3-node20
  system=$(node -p 'process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime ? "linuxmusl" : process.platform')
  binary=prebuilds/$system-$(node -p process.arch).node
fi
binary="$modules/$kept/$binary"
# A plain folder is from an installation of an earlier version: the packages beside it are not only SQLite's.
if [ ! -L "$modules/$kept" ] || [ ! -f "$binary" ]; then
  echo "prune-binaries.sh: SQLite has no binary at $binary: create it with node deploy/packages/install.mjs" >&2
  exit 1
fi
packages=$(dirname "$(readlink -f "$modules/$kept")")
rm -rf "${modules:?}/$other" "${packages:?}/$other"
find "$packages" -type f -name '*.node' ! -samefile "$binary" -delete
rm -rf "${packages:?}/$kept/deps" "${packages:?}/$kept/src"
if [ -d "$packages/$kept/build" ]; then
  find "$packages/$kept/build" -type f ! -samefile "$binary" -delete
fi
# The other packages were only needed to compile SQLite.
for package in "$packages"/*; do
  case $(basename "$package") in
    "$kept" | bindings | file-uri-to-path) ;;
    *) rm -rf "$package" ;;
  esac
done
find "$packages" -xtype l -delete
find "$packages" -mindepth 1 -type d -empty -delete

# Compilers and debuggers read these files; Node does not.
find "$modules/" -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.map' \) -delete
