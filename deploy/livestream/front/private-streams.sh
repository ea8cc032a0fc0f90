#!/bin/sh
# Keeps the image from starting if anyone could watch streams that the state API calls private: only this proxy and the
# ingest keep viewers out.
set -eu
: "${PRIVATE_STREAMS:=}" "${FRONT_VIEW_AUTH:=off}" "${INGEST_AUTHMETHOD:=http}"
[ -n "$PRIVATE_STREAMS" ] || exit 0
if [ "$FRONT_VIEW_AUTH" = off ]; then
  echo "PRIVATE_STREAMS: set FRONT_VIEW_AUTH=/view-auth too, or anyone can watch them here" >&2
  exit 1
fi
if [ "$INGEST_AUTHMETHOD" != http ]; then
  echo "PRIVATE_STREAMS: add compose.keys.yaml and PUBLISH_KEYS_FILE, or anyone can read them at the ingest's port 1935" >&2
  exit 1
fi
