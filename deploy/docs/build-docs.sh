#!/bin/sh
# Builds Swagger UI's files for the API server. They are compressed once here, so that a production image needs no
# package for them.
# build-docs.sh FOLDER
set -eu
[ $# -eq 1 ] || { echo "usage: build-docs.sh FOLDER" >&2; exit 64; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/../../node_modules/swagger-ui-dist"

# Removes the reference to the source map, which is not served.
sed '/^\/\/# sourceMappingURL=/d' swagger-ui-bundle.js | gzip -9 -n >"$out/swagger-ui.js.gz"
sed '/^\/\*# sourceMappingURL=/d' swagger-ui.css | gzip -9 -n >"$out/swagger-ui.css.gz"
cat LICENSE NOTICE swagger-ui-bundle.js.LICENSE.txt >"$out/licenses.txt"
chmod -R a+rX "$out"
