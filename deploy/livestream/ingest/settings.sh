# shellcheck shell=sh
# The hook's settings: from the environment, checked once, every fault named. README.md explains them.

: "${STATE_API_URL:=http://127.0.0.1:4000}" "${HLS_ROOT:=/srv/hls}" "${RUN_DIR:=/run/hls-ladder}" "${LOG_FILE:=}"
: "${SOURCE_URL:=rtsp://127.0.0.1:8554/live/KEY}" "${MEDIAMTX_API_URL:=http://127.0.0.1:9997}" "${NGINX_STAT_URL:=}"
: "${SEGMENT_SECONDS:=2}" "${PRESET:=veryfast}" "${RUNGS_MAX:=3}" "${FPS_MAX:=30}" "${AUDIO_RUNG:=1}" "${PASSTHROUGH:=0}"
: "${GOP_SECONDS:=$SEGMENT_SECONDS}"
: "${LADDER:=720:2800:128 480:1200:96 360:700:64 240:350:48}"
: "${HEARTBEAT_SECONDS:=10}" "${LEASE_SECONDS:=30}" "${STALL_SECONDS:=15}" "${DEAD_SECONDS:=20}"
: "${ENDED_KEEP_SECONDS:=30}" "${DISK_FREE_MIN_KB:=16384}"

# How long one request to the state API or the media server may take.
REQUEST_SECONDS=5
# How long ffmpeg may take to finish by itself, then after our signal.
FINISH_SECONDS=5
# The longest pause before ffmpeg is started again.
RESTART_PAUSE_MAX_SECONDS=10
# Lines of ffmpeg that reach the log in one minute.
FFMPEG_LINES_MAX=40
LOG_FILE_MAX_BYTES=10485760

log() {
  if [ -n "$LOG_FILE" ]; then
    printf '%s hls-ladder %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$*" >>"$LOG_FILE"
  else
    printf '%s hls-ladder %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$*" >&2
  fi
}

# is_key TEXT: the same pattern as the state API, the media servers and the front proxy: ^[A-Za-z0-9_-]{1,64}$
is_key() {
  case $1 in
  '' | *[!A-Za-z0-9_-]*) return 1 ;;
  esac
  [ ${#1} -le 64 ]
}

# is_between TEXT LEAST MOST
is_between() {
  case $1 in
  '' | *[!0-9]* | ??????????*) return 1 ;;
  esac
  [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]
}

# expect_between NAME VALUE LEAST MOST
expect_between() {
  is_between "$2" "$3" "$4" && return
  log "setting $1 must be a whole number from $3 to $4, not '$2'"
  faults=1
}

check_rung() {
  rung_rest=${1#*:}
  if ! { is_between "${1%%:*}" 64 4320 && is_between "${rung_rest%%:*}" 50 50000 && is_between "${rung_rest#*:}" 16 512; }; then
    log "setting LADDER must hold 'short side:video kbit/s:audio kbit/s', not '$1'"
    faults=1
  fi
}

check_settings() {
  faults=
  expect_between SEGMENT_SECONDS "$SEGMENT_SECONDS" 1 2
  expect_between GOP_SECONDS "$GOP_SECONDS" 1 2
  expect_between RUNGS_MAX "$RUNGS_MAX" 1 8
  expect_between FPS_MAX "$FPS_MAX" 1 120
  expect_between AUDIO_RUNG "$AUDIO_RUNG" 0 1
  expect_between PASSTHROUGH "$PASSTHROUGH" 0 1
  expect_between HEARTBEAT_SECONDS "$HEARTBEAT_SECONDS" 1 600
  expect_between LEASE_SECONDS "$LEASE_SECONDS" 2 3600
  expect_between STALL_SECONDS "$STALL_SECONDS" 2 600
  expect_between DEAD_SECONDS "$DEAD_SECONDS" 2 600
  expect_between ENDED_KEEP_SECONDS "$ENDED_KEEP_SECONDS" 1 86400
  expect_between DISK_FREE_MIN_KB "$DISK_FREE_MIN_KB" 0 999999999
  for rung in $LADDER; do
    check_rung "$rung"
  done
  [ -n "$LADDER" ] || expect_between LADDER '' 64 4320
  case $PRESET in
  ultrafast | superfast | veryfast | faster | fast | medium | slow | slower | veryslow) ;;
  *)
    log "setting PRESET must be one of x264's, not '$PRESET'"
    faults=1
    ;;
  esac
  if [ -z "$faults" ] && [ $((SEGMENT_SECONDS % GOP_SECONDS)) -ne 0 ]; then
    log "setting SEGMENT_SECONDS must be a multiple of GOP_SECONDS"
    faults=1
  fi
  if [ -z "$faults" ] && [ "$LEASE_SECONDS" -le "$HEARTBEAT_SECONDS" ]; then
    log "setting LEASE_SECONDS must be above HEARTBEAT_SECONDS"
    faults=1
  fi
  case $SOURCE_URL in
  *KEY*) ;;
  *)
    log "setting SOURCE_URL must hold the word KEY"
    faults=1
    ;;
  esac
  if ! { [ -d "$HLS_ROOT" ] && [ -w "$HLS_ROOT" ]; }; then
    log "setting HLS_ROOT must be a folder that can be written to: $HLS_ROOT"
    faults=1
  fi
  [ -z "$faults" ]
}

# pause SECONDS: a signal ends it at once, which a plain sleep would put off.
pause() {
  sleep "$1" 9>&- &
  sleep_pid=$!
  wait "$sleep_pid"
  kill "$sleep_pid" 2>/dev/null || :
}

# Seconds since the machine started, in $now: no process is started, and clocks may be set.
read_clock() {
  read -r now _ </proc/uptime
  now=${now%.*}
}
