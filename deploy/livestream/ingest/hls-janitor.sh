#!/bin/sh
# One per media server: un-lists and removes at the start what an earlier run left, later removes ended streams. See README.md beside this file.
umask 022
hooks=$(cd "$(dirname "$0")" && pwd) || exit 70
. "$hooks/settings.sh"
. "$hooks/state-api.sh"
. "$hooks/playlists.sh"
. "$hooks/run-folder.sh"
check_settings || exit 78

stopping=
trap 'stopping=1' INT TERM

# ended_for SECONDS: nothing was written under the key for so long. A session that was not closed belongs to a killed hook, whose successor
# starts after seconds and wants to go on: it has the time of a lease.
ended_for() {
  keep_seconds=$1
  if [ -e "$run/session" ] && [ "$keep_seconds" -gt 0 ] && [ "$keep_seconds" -lt $((LEASE_SECONDS + 5)) ]; then
    keep_seconds=$((LEASE_SECONDS + 5))
  fi
  newest_time=0
  for entry in "$folder" "$folder"/*/index.m3u8; do
    entry_time=$(stat -c %Y "$entry" 2>/dev/null) || continue
    [ "$entry_time" -le "$newest_time" ] || newest_time=$entry_time
  done
  [ $(($(date +%s) - newest_time)) -ge "$keep_seconds" ]
}

# sweep SECONDS: keys whose hook lives are locked, and left alone.
sweep() {
  for entry in "$HLS_ROOT"/*/ "$RUN_DIR"/*/; do
    entry=${entry%/} entry=${entry##*/}
    is_key "$entry" || continue
    use_key "$entry"
    if [ -d "$folder" ] || [ -d "$run" ]; then
      if try_lock && ended_for "$1"; then
        [ -z "$2" ] || unlist_stream "$key" 0.0.0.0 '' || log "$key could not be un-listed at $STATE_API_URL"
        rm -rf "$folder" "$run"
      fi
      free_lock
    fi
  done
}

mkdir -p "$RUN_DIR" || exit 73
sweep 0 at-start # the media server takes nobody yet, or has hooks that hold their locks
while [ -z "$stopping" ]; do
  if [ -f "$LOG_FILE" ] && [ "$(stat -c %s "$LOG_FILE")" -gt "$LOG_FILE_MAX_BYTES" ]; then
    mv -f "$LOG_FILE" "$LOG_FILE.1"
  fi
  pause 5
  sweep "$ENDED_KEEP_SECONDS" ''
done
