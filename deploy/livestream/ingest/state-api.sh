# shellcheck shell=sh
# What the state API is told.

# post PATH BODY: true when it was accepted. No curl in the container; Debian's busybox crashes on `wget -T`, hence timeout.
post() {
  timeout "$REQUEST_SECONDS" wget -q -O /dev/null --post-data "$2" "$STATE_API_URL$1" 2>/dev/null 9>&-
}

# Colons are all that needs escaping: in IPv6 addresses and times. Everything else has passed a pattern.
form_value() {
  printf '%s' "$1" | sed 's/:/%3A/g'
}

# list_stream: on-publish, and again as the heartbeat. Needs key, address, session, started_at.
list_stream() {
  post /webhook/on-publish \
    "name=$key&remoteAddr=$(form_value "$address")&session=$session&startedAt=$(form_value "$started_at")&ttl=$LEASE_SECONDS"
}

# unlist_stream KEY ADDRESS SESSION: an empty session un-lists whatever is there under the key.
unlist_stream() {
  unlist_body="name=$1&remoteAddr=$(form_value "$2")"
  [ -z "$3" ] || unlist_body="$unlist_body&session=$3"
  post /webhook/on-unpublish "$unlist_body" || post /webhook/on-unpublish "$unlist_body"
}
