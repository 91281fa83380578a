#!/bin/sh
# A smoke test that needs only curl.
#
#   hosting-emulator exec --clock skip -- ./smoke.sh
set -eu

project="$HOSTING_BASE_URL/v1/projects/$HOSTING_PROJECT_ID"

call() {
  curl --silent --show-error --fail-with-body -H "Authorization: Bearer $HOSTING_TOKEN" "$@"
}

# Print the value of a text field in a JSON object on stdin. This is good enough for a smoke test.
field() {
  sed -n "s/^.*\"$1\":\"\([^\"]*\)\".*\$/\1/p"
}

echo "deployments can be listed"
call "$project/deployments?limit=1" | grep -q '"items":\[{'

echo "the flag can be hidden"
call -X PUT -H "Idempotency-Key: hide" -H "Content-Type: application/json" \
  -d '{"enabled": false}' "$project/powered-by-flag" | grep -q '"enabled":false'

echo "domains can be applied"
operation=$(call -X PUT -H "Idempotency-Key: domains" "$project/domains" | cut -d '"' -f 4)
state=queued
polls=0
while [ "$state" = queued ] || [ "$state" = running ]; do
  polls=$((polls + 1))
  [ "$polls" -le 100 ] # With --clock skip, each poll advances the clock, so there is no need to sleep.
  state=$(call "$HOSTING_BASE_URL/v1/operations/$operation" | field state)
done
[ "$state" = succeeded ]

echo "a request without a token is refused"
status=$(curl --silent -o /dev/null -w '%{http_code}' "$project/deployments")
[ "$status" = 401 ]
