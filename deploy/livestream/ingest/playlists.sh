# shellcheck shell=sh
# What is on disk of a stream. Reads folder, rungs; keeps in seen the newest segments at the time of the last progress.

# newest_segments: `rung/number.ts` of every rung in $fresh; false while a rung has none, or an empty one.
newest_segments() {
  fresh=
  for rung in $rungs; do
    newest=
    [ -r "$folder/$rung/index.m3u8" ] || return 1
    while read -r playlist_line; do
      case $playlist_line in
      '' | '#'*) ;;
      *) newest=$playlist_line ;;
      esac
    done <"$folder/$rung/index.m3u8"
    [ -n "$newest" ] && [ -s "$folder/$rung/$newest" ] || return 1
    fresh="$fresh $rung/$newest"
  done
}

# advanced: every rung has a newer segment than at the last progress.
advanced() {
  newest_segments 2>/dev/null || return 1
  for segment in $fresh; do
    case " $seen " in
    *" $segment "*) return 1 ;;
    esac
  done
  seen=$fresh
}

# clear_files: before a fresh start, so that nothing of an earlier stream passes for this one.
clear_files() {
  rm -rf "$folder"
  mkdir -p "$folder"
  seen=
}

# drop_leftovers: what a killed ffmpeg wrote and no longer lists. A playlist names six segments and three more are kept for slow players.
drop_leftovers() {
  rm -f "$folder"/*.tmp "$folder"/*/*.tmp
  for rung in $rungs; do
    for segment in "$folder/$rung"/*.ts; do
      printf '%s\n' "${segment##*/}"
    done | sort -rn | tail -n +13 | while read -r segment; do rm -f "$folder/$rung/$segment"; done
  done
}

# end_playlists: tells players that nothing more comes. ffmpeg does not, because its end may be a restart.
end_playlists() {
  for playlist in "$folder"/*/index.m3u8; do
    [ -s "$playlist" ] || continue
    { cat "$playlist" && printf '#EXT-X-ENDLIST\n'; } >"$playlist.tmp" && mv -f "$playlist.tmp" "$playlist"
  done
}

# has_room: enough space for segments. An unreadable answer of df counts as room: the watch for stalls is there too.
has_room() {
  free_kb=$(df -Pk "$HLS_ROOT" 2>/dev/null | awk 'NR == 2 { print $4 }')
  case $free_kb in
  '' | *[!0-9]*) return 0 ;;
  esac
  [ "$free_kb" -ge "$DISK_FREE_MIN_KB" ]
}
