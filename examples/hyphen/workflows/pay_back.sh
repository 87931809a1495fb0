#!/bin/sh
# Stands for a bank. A real one would get PAWL_IDEMPOTENCY_KEY along.
echo '{"reference": "R-4711"}'
