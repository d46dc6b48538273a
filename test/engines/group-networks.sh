#!/usr/bin/env bash
# Three networks for the nodes of a group, without root: unshare --user --map-root-user group-networks.sh
# Prints the pids that hold them, and stays until its standard input ends. A cable goes from each to a hub: a node whose end is
# down is cut off.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
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
