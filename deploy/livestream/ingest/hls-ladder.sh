#!/bin/sh
# The hook of the media server: see README.md beside this file.
#   hls-ladder.sh publish [KEY [ADDRESS]]
#   hls-ladder.sh unpublish [KEY]
umask 022
hooks=$(cd "$(dirname "$0")" && pwd) || exit 70
. "$hooks/settings.sh"
. "$hooks/state-api.sh"
. "$hooks/source.sh"
. "$hooks/ladder.sh"
. "$hooks/playlists.sh"
. "$hooks/run-folder.sh"

stopping='' listed='' ffmpeg_pid='' seen='' address=''

# on_signal: the listing first, at once; the loop then sees that it is over.
on_signal() {
  stopping=1
  [ -z "$listed" ] || unlist
}

unlist() {
  unlist_stream "$key" "$address" "$session" || log "$key could not be un-listed at $STATE_API_URL; its lease of $LEASE_SECONDS s will end it"
  listed=
}

list_or_refresh() {
  if list_stream; then
    [ -n "$listed" ] || log "$key listed: $rungs"
    listed=1 refused='' next_post=$((now + HEARTBEAT_SECONDS))
  else
    [ -n "$refused" ] || log "$key not taken by the state API at $STATE_API_URL; asking every second"
    refused=1 next_post=$((now + 1))
  fi
  # A signal while it was asked: its un-listing came before, or not at all.
  [ -z "$stopping" ] || unlist
}

# start fresh|resume
start() {
  if [ "$1" = resume ]; then drop_leftovers; else clear_files; fi
  read_clock
  started=$now
  start_ladder "$1"
}

# restart REASON: in place once there are whole playlists, so that players go on; at once after a good while, else with growing pauses.
restart() {
  kill_ladder
  log "$key $1; starts again in $restart_pause s"
  [ "$restart_pause" -eq 0 ] || pause "$restart_pause"
  [ -z "$stopping" ] || return
  restart_pause=$((restart_pause * 2 + 1))
  [ "$restart_pause" -le "$RESTART_PAUSE_MAX_SECONDS" ] || restart_pause=$RESTART_PAUSE_MAX_SECONDS
  if newest_segments 2>/dev/null; then start resume; else start fresh; fi
}

# wait_for_room: no half-written segments and no listed stream that has stopped.
wait_for_room() {
  log "$key disk full: $free_kb KiB free in $HLS_ROOT, $DISK_FREE_MIN_KB needed (DISK_FREE_MIN_KB); stopped until there is room"
  [ -z "$listed" ] || unlist
  produces=
  kill_ladder
  until [ -n "$stopping" ] || has_room; do
    pause 2
  done
  [ -n "$stopping" ] || log "$key has room again"
}

# watch_second: once a second.
watch_second() {
  quiet=$((now - (progressed > started ? progressed : started)))
  if ! has_room; then
    wait_for_room
    [ -n "$stopping" ] || start fresh
  elif ! ladder_runs; then
    wait "$ffmpeg_pid" 2>/dev/null
    restart "ffmpeg ended with status $?"
  elif [ "$quiet" -gt "$STALL_SECONDS" ]; then
    restart "made no segment for $STALL_SECONDS s"
  fi
  if [ -n "$listed" ] && [ $((now - progressed)) -gt "$DEAD_SECONDS" ]; then
    log "$key un-listed: no new segment for $DEAD_SECONDS s"
    produces=
    unlist
  fi
}

# watch: until the broadcaster goes.
watch() {
  next_post=0 refused='' restart_pause=0 produces='' progressed=0 looked=0
  has_room || wait_for_room
  [ -z "$stopping" ] || return
  if [ -n "$resumes" ] && newest_segments 2>/dev/null; then
    # Listed already; what the killed hook left is no progress of ours.
    seen=$fresh
    start resume
  else
    start fresh
  fi
  while [ -z "$stopping" ]; do
    read_clock
    if advanced; then
      progressed=$now produces=1
      [ $((now - started)) -lt 30 ] || restart_pause=0
    fi
    if [ "$now" -ne "$looked" ]; then
      looked=$now
      watch_second
    fi
    if [ -n "$produces" ] && [ -z "$stopping" ] && [ "$now" -ge "$next_post" ] && [ -s "$folder/master.m3u8" ]; then
      list_or_refresh
    fi
    tick=1
    [ -n "$listed" ] || tick=0.1
    [ -n "$stopping" ] || pause "$tick"
  done
}

publish() {
  trap on_signal INT TERM
  take_lock || exit 0
  kill_orphan
  described=
  source_url=${SOURCE_URL%%KEY*}$key${SOURCE_URL#*KEY}
  until describe_source || [ -n "$stopping" ]; do
    [ -n "$described" ] || log "$key cannot be read yet"
    described=1
    pause 1
  done
  [ -z "$stopping" ] || { forget_session; exit 0; }
  choose_rungs
  choose_session
  # The state API demands one; nobody has this.
  [ -n "$address" ] || address=0.0.0.0
  log "$key from $address: ${width:-no}x${height:-picture} ${video_codec:-} ${audio_codec:-no sound}, session $session"
  watch
  finish_ladder
  end_playlists
  forget_session
  log "$key ended"
}

# The broadcaster has gone. MediaMTX names the session, so this may be said at once; else a living hook says it itself.
unpublish() {
  if [ -n "${MTX_SOURCE_ID:-}" ]; then
    unlist_stream "$key" "${address:-0.0.0.0}" "$MTX_SOURCE_ID"
    return
  fi
  try_lock || return 0
  if read_session; then
    unlist_stream "$key" "$old_address" "$old_session" || log "$key could not be un-listed at $STATE_API_URL"
    kill_orphan
    end_playlists
    forget_session
  fi
}

stream_key=${2:-${MTX_PATH:-}}
stream_key=${stream_key#live/}
if ! is_key "$stream_key"; then
  log "refused a stream key: expected 1 to 64 of A-Z, a-z, 0-9, _ and -"
  exit 64
fi
use_key "$stream_key"
keep_address "${3:-${REMOTE_ADDR:-}}"
check_settings || exit 78

case ${1:-} in
publish) publish ;;
unpublish) unpublish ;;
*)
  log "expected publish or unpublish, not '${1:-}'"
  exit 64
  ;;
esac
