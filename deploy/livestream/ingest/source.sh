# shellcheck shell=sh
# Who is publishing and what: address, session, and width, height, video_codec, audio_codec (empty = there is none).

# fetch URL: the answer, without line ends; at most a mebibyte of it.
fetch() {
  timeout "$REQUEST_SECONDS" wget -q -O - "$1" 2>/dev/null 9>&- | head -c 1048576 | tr -d '\r\n'
}

# number_after TEXT PREFIX: the digits after the first PREFIX in TEXT
number_after() {
  case $1 in
  *"$2"*) ;;
  *) return 0 ;;
  esac
  number_rest=${1#*"$2"}
  printf '%s' "${number_rest%%[!0-9]*}"
}

keep_address() {
  # "1.2.3.4:5678", "[2001:db8::1]:5678" or a bare address
  case $1 in
  \[*) address=${1#\[} address=${address%%\]*} ;;
  *:*:*) address=$1 ;;
  *) address=${1%%:*} ;;
  esac
  address=${address%%%*}
  case $address in
  *[!0-9A-Fa-f.:]*) address= ;;
  esac
}

# MediaMTX says who publishes only in its control API.
ask_mediamtx_address() {
  case ${MTX_SOURCE_TYPE:-} in
  rtmpConn | rtmpsConn | webRTCSession | rtspSession | rtspsSession | srtConn) ;;
  *) return 0 ;;
  esac
  source_list=$(printf '%s' "$MTX_SOURCE_TYPE" | tr '[:upper:]' '[:lower:]')s
  source_answer=$(fetch "$MEDIAMTX_API_URL/v3/$source_list/get/$MTX_SOURCE_ID")
  source_answer=${source_answer#*\"remoteAddr\":\"}
  keep_address "${source_answer%%\"*}"
}

# tracks2: since v1.17. VP8 and VP9 have no size there, so those are probed.
ask_mediamtx_tracks() {
  source_answer=$(fetch "$MEDIAMTX_API_URL/v3/paths/get/live/$key" | tr -d ' ')
  case $source_answer in
  *'"tracks2":[{'*) ;;
  *) return 1 ;;
  esac
  source_answer=${source_answer#*\"tracks2\":}
  width=$(number_after "$source_answer" '"width":')
  height=$(number_after "$source_answer" '"height":')
  case $source_answer in
  *'"codec":"H264"'*) video_codec=h264 ;;
  *'"codec":"H265"'* | *'"codec":"AV1"'* | *'"codec":"VP8"'* | *'"codec":"VP9"'* | *'"codec":"M-JPEG"'* | *'"codec":"MPEG-4Video"'* | *'"codec":"MPEG-1/2Video"'*) video_codec=other ;;
  esac
  case $source_answer in
  *'"codec":"MPEG-4Audio"'*) audio_codec=aac ;;
  *'"codec":"Opus"'* | *'"codec":"MPEG-1/2Audio"'* | *'"codec":"AC3"'* | *'"codec":"G711"'* | *'"codec":"G722"'* | *'"codec":"LPCM"'* | *'"codec":"Speex"'* | *'"codec":"Vorbis"'*) audio_codec=other ;;
  esac
  [ -n "$video_codec$audio_codec" ] && { [ -z "$video_codec" ] || [ -n "$height" ]; }
}

# nginx-rtmp starts the hook before the stream has said what it holds, so this is asked again for a while.
ask_nginx() {
  source_answer=$(fetch "$NGINX_STAT_URL")
  case $source_answer in
  *"<stream><name>$key</name>"*'<meta>'*) ;;
  *) return 1 ;;
  esac
  source_pid=$(number_after "$source_answer" '<pid>')
  source_answer=${source_answer#*"<stream><name>$key</name>"}
  source_answer=${source_answer%%</stream>*}
  source_client=${source_answer%%<publishing/>*}
  source_client=${source_client##*<client><id>}
  server_session=nginx-$source_pid-${source_client%%[!0-9]*}
  case $source_answer in
  *'<meta>'*) ;;
  *) return 1 ;;
  esac
  source_answer=${source_answer#*<meta>}
  source_answer=${source_answer%%</meta>*}
  # Both tracks are always named; those that there are have a codec.
  case ${source_answer%%</video>*} in
  *'<codec>H264</codec>'*) video_codec=h264 ;;
  *'<codec>'*) video_codec=other ;;
  esac
  case ${source_answer#*</video>} in
  *'<codec>AAC</codec>'*) audio_codec=aac ;;
  *'<codec>'*) audio_codec=other ;;
  esac
  if [ -n "$video_codec" ]; then
    width=$(number_after "$source_answer" '<width>') height=$(number_after "$source_answer" '<height>')
    [ "${width:-0}" -gt 0 ] && [ "${height:-0}" -gt 0 ]
  else
    [ -n "$audio_codec" ]
  fi
}

ask_ffprobe() {
  # A silent source ends within ten seconds.
  case $source_url in
  rtsp:*) set -- -rtsp_transport tcp -timeout 10000000 ;;
  rtmp:*) set -- -rtmp_live live -rw_timeout 10000000 -fpsprobesize 0 ;;
  *) set -- ;;
  esac
  source_answer=$(timeout 20 ffprobe -v error "$@" -analyzeduration 3000000 -probesize 5000000 \
    -show_entries stream=codec_type,codec_name,width,height -of csv=p=0 "$source_url" 2>/dev/null 9>&- </dev/null)
  for source_stream in $source_answer; do
    case $source_stream in
    *,video,*)
      [ -z "$video_codec" ] || continue
      video_codec=other
      case $source_stream in h264,*) video_codec=h264 ;; esac
      source_stream=${source_stream#*,video,}
      width=${source_stream%%,*} height=$(number_after "$source_stream," ,)
      ;;
    *,audio*)
      audio_codec=other
      case $source_stream in aac,*) audio_codec=aac ;; esac
      ;;
    esac
  done
  [ -n "$video_codec$audio_codec" ]
}

forget_source() {
  width='' height='' video_codec='' audio_codec=''
}

# A stream with one kind of track may only not have told of the other yet.
ask_server() {
  server_tries=0
  while [ -z "$stopping" ] && [ "$server_tries" -lt "$2" ]; do
    server_tries=$((server_tries + 1))
    forget_source
    if "$1"; then
      [ -n "$video_codec" ] && [ -n "$audio_codec" ] && return
      [ "$server_tries" -gt 6 ] && return
    fi
    pause 0.1
  done
  forget_source
  return 1
}

# describe_source: false when the stream cannot be read (yet).
describe_source() {
  server_session=${MTX_SOURCE_ID:-}
  if [ -n "${MTX_SOURCE_ID:-}" ]; then
    [ -n "$address" ] || ask_mediamtx_address
    ask_server ask_mediamtx_tracks 8 && return
  elif [ -n "$NGINX_STAT_URL" ]; then
    ask_server ask_nginx 30 && return
  fi
  [ -z "$stopping" ] || return
  forget_source
  ask_ffprobe
}
