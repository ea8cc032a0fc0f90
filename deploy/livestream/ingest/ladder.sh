# shellcheck shell=sh
# Which rungs, and the ffmpeg that makes them. Reads width, height, video_codec, audio_codec; sets rung_specs, rungs, ffmpeg_pid.

# choose_rungs: rung_specs are `name:short side:video kbit/s:audio kbit/s`, rungs the names of all playlists.
choose_rungs() {
  rung_specs='' rungs='' rung_count=0
  if [ -n "$video_codec" ]; then
    short_side=$height
    [ "$width" -ge "$height" ] || short_side=$width
    for rung in $LADDER; do
      if [ "${rung%%:*}" -le "$short_side" ] && [ "$rung_count" -lt "$RUNGS_MAX" ]; then
        rung_specs="$rung_specs ${rung%%:*}p:$rung" rungs="$rungs ${rung%%:*}p" rung_count=$((rung_count + 1))
      fi
    done
    if [ -z "$rungs" ]; then
      # Below every rung: one of its own size, even because x264 demands it, at the least rate of the ladder.
      short_side=$((short_side / 2 * 2))
      rung=${LADDER##* }
      rung_specs="${short_side}p:$short_side:${rung#*:}" rungs="${short_side}p" rung_count=1
    fi
  fi
  if [ -n "$audio_codec" ] && { [ "$AUDIO_RUNG" -eq 1 ] || [ "$rung_count" -eq 0 ]; }; then
    rungs="$rungs audio"
  fi
  rungs=${rungs# }
}

# passes_through INDEX: the top rung of an H.264 source, when it is asked for
passes_through() {
  [ "$PASSTHROUGH" -eq 1 ] && [ "$1" -eq 0 ] && [ "$video_codec" = h264 ]
}

# One decoder, one scaler per encoded rung. The short side is limited, so that a portrait stays one.
filter_graph() {
  graph_rungs='' graph_pads='' graph_count=0 rung_index=0
  for rung in $rung_specs; do
    rung=${rung#*:}
    if ! passes_through "$rung_index"; then
      graph_pads="${graph_pads}[s$rung_index]" graph_count=$((graph_count + 1))
      graph_rungs="$graph_rungs;[s$rung_index]scale=w='if(gt(iw,ih),-2,${rung%%:*})':h='if(gt(iw,ih),${rung%%:*},-2)':flags=fast_bilinear,format=yuv420p[v$rung_index]"
    fi
    rung_index=$((rung_index + 1))
  done
  [ "$graph_count" -gt 0 ] || return 0
  printf '%s' "[0:v:0]fps=fps='if(gt(source_fps,1),min(source_fps,$FPS_MAX),$FPS_MAX)',split=$graph_count$graph_pads$graph_rungs"
}

# keyframes: by time, hence aligned whatever the frame rate; beside a copied rung at the broadcaster's own.
keyframes() {
  if [ "$PASSTHROUGH" -eq 1 ] && [ "$video_codec" = h264 ]; then
    printf 'source'
  else
    printf 'expr:gte(t,n_forced*%s)' "$GOP_SECONDS"
  fi
}

# first_segment_number: grows by two a second while segments come at most about once a second, so that no name of a key is used twice.
first_segment_number() {
  printf '%s' $((($(date +%s) - 1700000000) * 2))
}

# start_ladder fresh|resume: resume goes on in the playlists that are there, which players bear; a new first number there they do not.
start_ladder() {
  stream_map='' rung_index=0 segment_length=$SEGMENT_SECONDS
  flags=independent_segments+delete_segments+temp_file+program_date_time+omit_endlist
  first_number=0
  if [ "$1" = resume ]; then flags=$flags+append_list; else first_number=$(first_segment_number); fi
  graph=$(filter_graph)
  set -- -hide_banner -nostdin -loglevel warning
  # A silent source ends within ten seconds. RTMP tells the frame rate; counting frames for it would take another 20 of them.
  case $source_url in
  rtsp:*) set -- "$@" -rtsp_transport tcp -timeout 10000000 ;;
  rtmp:*) set -- "$@" -rtmp_live live -rw_timeout 10000000 -fpsprobesize 0 ;;
  esac
  # It ends as soon as both tracks are known; sound may come a whole group of pictures before the first keyframe.
  analyze_us=10000000
  [ -n "$video_codec" ] && [ -n "$audio_codec" ] || analyze_us=500000
  set -- "$@" -analyzeduration "$analyze_us" -probesize 5000000 -fflags +genpts -i "$source_url"
  [ -z "$graph" ] || set -- "$@" -filter_complex "$graph"
  for rung in $rung_specs; do
    rung_name=${rung%%:*} rung=${rung#*:*:}
    if passes_through "$rung_index"; then
      # Declared, because a copied rung without a rate is left out of the master; a tenth shorter, because the first segment would else be two groups.
      set -- "$@" -map 0:v:0 "-c:v:$rung_index" copy "-b:v:$rung_index" "${rung%%:*}k"
      segment_length=$((SEGMENT_SECONDS - 1)).9
    else
      set -- "$@" -map "[v$rung_index]" "-c:v:$rung_index" libx264 "-preset:v:$rung_index" "$PRESET" \
        "-profile:v:$rung_index" main "-sc_threshold:v:$rung_index" 0 "-bf:v:$rung_index" 0 \
        "-b:v:$rung_index" "${rung%%:*}k" "-maxrate:v:$rung_index" "${rung%%:*}k" "-bufsize:v:$rung_index" "${rung%%:*}k" \
        "-g:v:$rung_index" $((GOP_SECONDS * FPS_MAX * 2)) "-force_key_frames:v:$rung_index" "$(keyframes)"
    fi
    stream_map="$stream_map v:$rung_index"
    if [ -n "$audio_codec" ]; then
      set -- "$@" -map 0:a:0 "-c:a:$rung_index" "$([ "$audio_codec" = aac ] && printf copy || printf aac)" "-b:a:$rung_index" "${rung#*:}k"
      stream_map="$stream_map,a:$rung_index"
    fi
    stream_map="$stream_map,name:$rung_name"
    rung_index=$((rung_index + 1))
  done
  case " $rungs " in
  *' audio '*)
    set -- "$@" -map 0:a:0 "-c:a:$rung_index" aac "-b:a:$rung_index" 64k "-ac:a:$rung_index" 2 "-ar:a:$rung_index" 48000
    stream_map="$stream_map a:$rung_index,name:audio"
    ;;
  esac
  set -- "$@" -f hls -hls_time "$segment_length" -hls_list_size 6 -hls_delete_threshold 3 -start_number "$first_number" \
    -hls_flags "$flags" -hls_segment_filename "$folder/%v/%d.ts" -master_pl_name master.m3u8 \
    -var_stream_map "${stream_map# }" "$folder/%v/index.m3u8"
  run_ffmpeg "$@"
}

run_ffmpeg() {
  rm -f "$run/ffmpeg-lines"
  mkfifo "$run/ffmpeg-lines"
  relay_lines <"$run/ffmpeg-lines" 9>&- &
  # Dies with the hook where the system can do that; elsewhere the next hook ends it.
  if setpriv --pdeathsig KILL true 2>/dev/null; then
    setpriv --pdeathsig KILL ffmpeg "$@" </dev/null >/dev/null 2>"$run/ffmpeg-lines" 9>&- &
  else
    ffmpeg "$@" </dev/null >/dev/null 2>"$run/ffmpeg-lines" 9>&- &
  fi
  ffmpeg_pid=$!
  printf '%s\n' "$ffmpeg_pid" >"$run/ffmpeg.pid"
}

# ffmpeg's warnings into our log, so many a minute.
relay_lines() {
  relayed=0 relay_minute=
  while read -r ffmpeg_line; do
    read_clock
    [ "$relay_minute" = $((now / 60)) ] || relayed=0 relay_minute=$((now / 60))
    relayed=$((relayed + 1))
    if [ "$relayed" -le "$FFMPEG_LINES_MAX" ]; then
      log "$key ffmpeg: $ffmpeg_line"
    elif [ "$relayed" -eq $((FFMPEG_LINES_MAX + 1)) ]; then
      log "$key ffmpeg: more lines of this minute are left out"
    fi
  done
}

# is_ffmpeg PID: ours, and not another process that got the number later
is_ffmpeg() {
  [ -n "$1" ] && [ -r "/proc/$1/cmdline" ] && tr '\0' '\n' <"/proc/$1/cmdline" 2>/dev/null | grep -qFx "$folder/%v/index.m3u8"
}

ladder_runs() {
  [ -n "$ffmpeg_pid" ] && kill -0 "$ffmpeg_pid" 2>/dev/null
}

# kill_ladder: for restarts. SIGKILL leaves whole files; a second SIGINT would leave empty playlists, which are fatal to players.
kill_ladder() {
  [ -n "$ffmpeg_pid" ] || return 0
  kill -KILL "$ffmpeg_pid" 2>/dev/null
  wait "$ffmpeg_pid" 2>/dev/null
  ffmpeg_pid=
}

# finish_ladder: the source has gone or a signal has reached the whole group, so ffmpeg is ending by itself; only if not, it is told to.
finish_ladder() {
  for finish_signal in INT KILL; do
    finish_tenths=0
    while ladder_runs && [ "$finish_tenths" -lt $((FINISH_SECONDS * 5)) ]; do
      pause 0.1
      finish_tenths=$((finish_tenths + 1))
    done
    ladder_runs || break
    kill -"$finish_signal" "$ffmpeg_pid" 2>/dev/null
  done
  wait "$ffmpeg_pid" 2>/dev/null
  ffmpeg_pid=
}

# kill_orphan: the ffmpeg of a hook that was killed.
kill_orphan() {
  orphan_pid=$(cat "$run/ffmpeg.pid" 2>/dev/null)
  is_ffmpeg "$orphan_pid" || return 0
  log "$key ends the ffmpeg $orphan_pid of an earlier hook"
  kill -KILL "$orphan_pid" 2>/dev/null
  orphan_tenths=0
  while is_ffmpeg "$orphan_pid" && [ "$orphan_tenths" -lt 30 ]; do
    pause 0.1
    orphan_tenths=$((orphan_tenths + 1))
  done
}
