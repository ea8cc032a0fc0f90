#!/bin/sh
# Writes Asterisk's configuration from the environment and the files in conf/, then becomes Asterisk: docs/operations/sip-trunk.md.
set -eu

run=${ASTERISK_RUN_DIR:-/run/asterisk}
conf=$run/conf
tab=$(printf '\t')
newline='
'

refuse() {
  echo "$1: expected $2" >&2
  exit 2
}

# check NAME VALUE PATTERN EXPECTED: the whole value matches the pattern.
check() {
  case $2 in *"$newline"*) refuse "$1" "$4" ;; esac
  printf '%s\n' "$2" | grep -Eqx -e "$3" || refuse "$1" "$4"
}

# A line of a configuration file loses the spaces at its ends, and a backslash before a semicolon.
check_secret() {
  case $2 in
  '' | *"$newline"* | *"$tab"* | ' '* | *' ' | *\\*)
    refuse "$1" "a password without backslashes, and without spaces at its ends"
    ;;
  esac
}

# A semicolon begins a comment.
escaped() {
  printf '%s' "$1" | sed 's/;/\\;/g'
}

host='([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])'
check PARLEY_URL "${PARLEY_URL:-}" "https?://$host(:[0-9]+)?(/[A-Za-z0-9._/-]*[A-Za-z0-9_-])?" \
  "Parley's address, such as http://127.0.0.1:8080"
check PARLEY_API_KEY "${PARLEY_API_KEY:-}" '[A-Za-z0-9_-]+' "a key of Parley with the scope voice"
check_secret ASTERISK_ARI_PASSWORD "${ASTERISK_ARI_PASSWORD:-}"
server=${SIP_TRUNK_HOST:-}
check SIP_TRUNK_HOST "$server" "$host(:[0-9]+)?" "the provider's SIP server, such as sip.example.com"
server_name=$(printf '%s' "$server" | sed -E 's/:[0-9]+$//')
transport=${SIP_TRUNK_TRANSPORT:-udp}
check SIP_TRUNK_TRANSPORT "$transport" 'udp|tcp|tls' "udp, tcp or tls"
user=${SIP_TRUNK_USER:-}
password=${SIP_TRUNK_PASSWORD:-}
if [ -n "$user" ]; then
  check SIP_TRUNK_USER "$user" '[A-Za-z0-9._+-]+' "the account's name at the provider"
  check_secret SIP_TRUNK_PASSWORD "$password"
fi
# Without an account, only its address tells that a call is the provider's.
addresses=${SIP_TRUNK_ADDRESSES:-}
[ -n "$addresses$user" ] || addresses=$server_name
[ -z "$addresses" ] || check SIP_TRUNK_ADDRESSES "$addresses" '[][A-Za-z0-9.:/-]+(,[][A-Za-z0-9.:/-]+)*' \
  "host names or addresses with commas, such as 198.51.100.0/28"
public=${SIP_PUBLIC_ADDRESS:-}
[ -z "$public" ] || check SIP_PUBLIC_ADDRESS "$public" "$host" "the address at which the provider reaches this machine"
parameters=
[ "$transport" = udp ] || parameters=";transport=$transport"
port=${SIP_PORT:-}
[ -n "$port" ] || case $transport in tls) port=5061 ;; *) port=5060 ;; esac
check SIP_PORT "$port" '[0-9]{1,5}' "a port"

umask 077
mkdir -p "$conf" "$run/db" "$run/log" "$run/spool"
cp "$(dirname "$0")"/conf/*.conf "$conf"

# Asterisk logs an error for each of these that is missing.
for name in acl ccss cel chan_websocket features indications pjproject stasis udptl; do : >"$conf/$name.conf"; done

cat >>"$conf/asterisk.conf" <<END

[directories]
astetcdir => $conf
astdbdir => $run/db
astlogdir => $run/log
astspooldir => $run/spool
astrundir => $run
END

cat >"$conf/ari.conf" <<END
[general]
enabled = yes

[parley]
type = user
password = $(escaped "$ASTERISK_ARI_PASSWORD")
password_format = plain
END

media=ws${PARLEY_URL#http}/ws/telephony/stream/asterisk
is_tls=no
case $media in wss:*) is_tls=yes ;; esac
cat >"$conf/websocket_client.conf" <<END
[parley]
type = websocket_client
connection_type = per_call_config
uri = $media
connection_timeout = 2000
reconnect_attempts = 1
tls_enabled = $is_tls
END
if [ "$is_tls" = yes ]; then
  echo "ca_list_file = /etc/ssl/certs/ca-certificates.crt" >>"$conf/websocket_client.conf"
fi

{
  cat <<END
[global]
type = global
user_agent = Parley

[transport]
type = transport
protocol = $transport
bind = 0.0.0.0:$port
END
  if [ "$transport" = tls ]; then
    echo "ca_list_file = /etc/ssl/certs/ca-certificates.crt"
    echo "verify_server = yes"
  fi
  if [ -n "$public" ]; then
    echo "external_media_address = $public"
    echo "external_signaling_address = $public"
    for net in 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16; do echo "local_net = $net"; done
  fi
  cat <<END

[trunk]
type = endpoint
transport = transport
context = from-trunk
disallow = all
allow = g722,ulaw,alaw
aors = trunk
direct_media = no
rtp_symmetric = yes
force_rport = yes
rewrite_contact = yes
send_pai = yes
send_connected_line = no
dtmf_mode = rfc4733
END
  # A trunk that fell silent would hold its call for ever.
  echo "rtp_timeout = 60"
  if [ "$transport" = tls ]; then echo "media_encryption = sdes"; fi
  if [ -n "$user" ]; then
    echo "outbound_auth = trunk"
    echo "from_domain = $server_name"
  fi
  cat <<END

[trunk]
type = aor
contact = sip:$server$(escaped "$parameters")
qualify_frequency = 60
END
  if [ -n "$user" ]; then
    cat <<END

[trunk]
type = auth
auth_type = userpass
username = $user
password = $(escaped "$password")

[trunk]
type = registration
transport = transport
outbound_auth = trunk
server_uri = sip:$server$(escaped "$parameters")
client_uri = sip:$user@$server
contact_user = $user
expiration = 600
retry_interval = 30
forbidden_retry_interval = 300
auth_rejection_permanent = no
END
    # Ten by default, after which the trunk would stay without calls.
    echo "max_retries = 1000000"
    echo "line = yes"
    echo "endpoint = trunk"
  fi
  if [ -n "$addresses" ]; then
    printf '\n[trunk]\ntype = identify\nendpoint = trunk\nmatch = %s\n' "$addresses"
  fi
} >"$conf/pjsip.conf"

[ "${1:-}" != --write-only ] || exit 0
exec asterisk -f -C "$conf/asterisk.conf"
