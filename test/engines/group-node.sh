#!/usr/bin/env bash
# The nodes of a MySQL group, without root:
#   unshare --user --map-root-user group-node.sh networks   makes three networks, prints the pids that hold them, and stays
#   group-node.sh run PROGRAM ...                           runs a program that bin/setup --engines unpacked, with its own loader
set -euo pipefail
ENGINES=${CONFERE_ENGINES:-$(cd "$(dirname "$0")/../.." && pwd)/.engines}
PATH=$PATH:/usr/sbin:/sbin

networks() { # a cable from each to a hub: a node whose end is down is cut off
  local n pid
  pids=()
  unshare --net sleep infinity & hub=$!
  for n in 1 2 3; do unshare --net sleep infinity & pids+=($!); done
  trap 'kill $hub ${pids[*]}' EXIT
  sleep 0.5
  nsenter -t "$hub" -n ip link add hub type bridge
  nsenter -t "$hub" -n ip link set hub up
  for n in 1 2 3; do
    pid=${pids[n - 1]}
    nsenter -t "$hub" -n ip link add "to$n" type veth peer name eth netns "$pid"
    nsenter -t "$hub" -n ip link set "to$n" master hub up
    nsenter -t "$pid" -n ip link set lo up
    nsenter -t "$pid" -n ip addr add "10.77.0.$n/24" dev eth
    nsenter -t "$pid" -n ip link set eth up
  done
  echo "${pids[*]}"
  # until the test closes its end
  cat >/dev/null
}

run() {
  local program=$1 lib
  shift
  lib=$(echo "$ENGINES"/usr/lib/*-linux-gnu)
  exec "$lib"/ld-linux-*.so.* --library-path "$lib:$ENGINES/usr/lib/mysql/private" "$ENGINES$program" "$@"
}

"$@"
