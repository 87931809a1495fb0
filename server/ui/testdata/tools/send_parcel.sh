#!/bin/sh
# The first attempt takes longer than anybody waits; nobody learns what it did.
[ "$PAWL_ATTEMPT" -gt 1 ] || sleep 60
echo '{"tracking": "LX-7001"}'
