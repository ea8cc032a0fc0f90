#!/bin/sh
# Writes nginx's directives for TRUSTED_PROXIES (addresses or CIDR blocks, separated by commas) to
# FRONT_TEMP/trusted-proxies.conf.
set -eu
: "${TRUSTED_PROXIES:=}" "${FRONT_TEMP:=/tmp}"
lines=
for proxy in $(printf '%s' "$TRUSTED_PROXIES" | tr ',' ' '); do
  case $proxy in
  *[!0-9A-Fa-f.:/]*)
    echo "TRUSTED_PROXIES: expected addresses or CIDR blocks, separated by commas" >&2
    exit 1
    ;;
  esac
  lines="${lines}set_real_ip_from $proxy;
"
done
printf '%s' "$lines" >"$FRONT_TEMP/trusted-proxies.conf"
