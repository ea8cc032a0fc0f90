# shellcheck shell=sh
# One hook per key at a time, and what the next one must know of it. Reads key; needs descriptor 9.

use_key() {
  key=$1 run=$RUN_DIR/$1 folder=$HLS_ROOT/$1
}

# try_lock: the kernel lets go of it when the hook dies, however it dies. The janitor may have removed the file in between.
try_lock() {
  mkdir -p "$run" || return 1
  exec 9>"$run/lock"
  flock -n 9 || return 1
  [ "$(stat -c %i "$run/lock" 2>/dev/null)" = "$(stat -L -c %i /proc/self/fd/9)" ]
}

# take_lock: an earlier hook of the key may still be finishing, or belong to a broadcaster who has the key now.
take_lock() {
  lock_tenths=0
  until try_lock; do
    [ -z "$stopping" ] || return 1
    lock_tenths=$((lock_tenths + 1))
    [ "$lock_tenths" -ne 100 ] || log "$key still waits for the hook of an earlier broadcaster"
    pause 0.1
  done
}

free_lock() {
  exec 9>&-
}

# read_session: session, started_at, address, owner and rungs of the last hook, when it was killed.
read_session() {
  old_session='' old_started_at='' old_address='' old_owner='' old_rungs=''
  [ -r "$run/session" ] || return 1
  {
    read -r old_session
    read -r old_started_at
    read -r old_address
    read -r old_owner
    read -r old_rungs
  } <"$run/session" || return 1
  [ -n "$old_session" ]
}

write_session() {
  printf '%s\n' "$session" "$started_at" "$address" "$PPID" "$rungs" >"$run/session.tmp" && mv -f "$run/session.tmp" "$run/session"
}

forget_session() {
  rm -f "$run/session" "$run/ffmpeg.pid" "$run/ffmpeg-lines"
}

# choose_session: the media server's own id of the broadcaster's connection; without one, a killed hook of the same server is the same session.
# Sets resumes when the files of the killed hook can be gone on with.
choose_session() {
  resumes=
  session=$server_session
  is_key "${session:-none}" || session=
  started_at=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  if read_session && { [ "$old_session" = "$session" ] || { [ -z "$session" ] && [ "$old_owner" = "$PPID" ]; }; }; then
    session=$old_session started_at=$old_started_at
    [ -n "$address" ] || address=$old_address
    [ "$old_rungs" != "$rungs" ] || resumes=1
  fi
  [ -n "$session" ] || session=hook-$(date +%s)-$$
  write_session
}
