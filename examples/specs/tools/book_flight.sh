#!/bin/sh
# Books a flight. A real program would send PAWL_IDEMPOTENCY_KEY along.
cat >/dev/null
echo '{"reference": "XK93Q7", "seat": "14C"}'
