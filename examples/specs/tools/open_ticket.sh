#!/bin/sh
# A real one would hand PAWL_IDEMPOTENCY_KEY on, so that no customer gets two.
echo '{"ticket":"T-1"}'
