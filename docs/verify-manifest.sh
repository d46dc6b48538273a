#!/bin/sh
# Verifies the manifest of a day, and names the messages of the day that you lack. Needs openssl 3, jq and the usual tools.
#
#   sh verify-manifest.sh manifest.json keys.json kept.txt [ids.txt]
#
#   manifest.json  a pix.day.manifest message, or the answer of GET /api/v1/manifests/<day>
#   keys.json      GET /.well-known/confere-manifest-keys.json, stored when you began: from then on you trust it alone
#   kept.txt       the webhook-ids that you kept, each on a line, in any order. Without ids.txt: those of this day alone
#   ids.txt        GET /api/v1/manifests/<day>/ids: names what is missing. It need not be trusted: the manifest has its digest
#
# Exit code: 0 nothing is missing; 1 something is missing; 2 wrong use, or the manifest or ids.txt is not genuine.
set -eu

fail() { echo "$1" >&2; exit 2; }

[ $# -eq 3 ] || [ $# -eq 4 ] || fail "usage: $0 manifest.json keys.json kept.txt [ids.txt]"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# a line for each signature of a key that you know: the key's id, its PEM, what is signed, the signature. The signed text
# is read of `payload` alone. Base64url becomes base64.
base64='def base64: gsub("-"; "+") | gsub("_"; "/") | . + "==="[0:(4 - length % 4) % 4];'
jq -r --slurpfile known "$2" "$base64"'
  (.data // .) as {$payload, $signatures} | $signatures[] as {$protected, $signature}
  | ($protected | base64 | @base64d | fromjson | select(.alg == "EdDSA")) as {$kid}
  | $known[0].keys[] | select(.kid == $kid)
  | [$kid, (.pem | @base64), "\($protected).\($payload)", ($signature | base64)] | join(" ")' "$1" >"$work/signatures" ||
  fail "$1 is no manifest, or $2 holds no keys"
[ -s "$work/signatures" ] || fail "no signature is of a key in $2"
while read -r kid pem signed signature; do
  echo "$pem" | openssl base64 -d -A >"$work/key.pem"
  echo "$signature" | openssl base64 -d -A >"$work/signature"
  printf %s "$signed" >"$work/signed"
  openssl pkeyutl -verify -pubin -inkey "$work/key.pem" -rawin -in "$work/signed" -sigfile "$work/signature" >/dev/null 2>&1 ||
    fail "the signature of key $kid is wrong"
done <"$work/signatures"

jq -r "$base64"'(.data // .).payload | base64 | @base64d | fromjson | .ids_sha256,
  "\(.merchant) \(.day) revision \(.revision): \(.messages) messages, proven: \(.proven), closed: \(.closed)"' "$1" >"$work/manifest"
read -r wanted <"$work/manifest"
sed 1d "$work/manifest"

# one id a line, each once, sorted by bytes
export LC_ALL=C
sorted() { tr -d '\r' <"$1" | sed '/^$/d' | sort -u; }
digest() { openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1; }
sorted "$3" >"$work/kept"

if [ $# -eq 3 ]; then
  if [ "$(digest "$work/kept")" = "$wanted" ]; then echo 'nothing is missing'; exit 0; fi
  echo "the ids in $3 are not those of the day: fetch /api/v1/manifests/<day>/ids, and give it as the fourth file"
  exit 1
fi

sorted "$4" >"$work/ids"
[ "$(digest "$work/ids")" = "$wanted" ] || fail "$4 is not the list of this manifest"
comm -23 "$work/ids" "$work/kept" >"$work/missing"
if [ ! -s "$work/missing" ]; then echo 'nothing is missing'; exit 0; fi
sed 's/^/missing /' "$work/missing"
exit 1
