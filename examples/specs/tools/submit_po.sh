#!/bin/sh
# A real one would hand PAWL_IDEMPOTENCY_KEY on, so that the vendor can tell a
# repeated order from a second one.
vendor=$(sed 's/.*"vendor":"\([^"]*\)".*/\1/')
if [ -z "$PAWL_IDEMPOTENCY_KEY" ]; then
	echo "there is no idempotency key" >&2
	exit 1
fi
echo "{\"order\":\"PO-$vendor\"}"
