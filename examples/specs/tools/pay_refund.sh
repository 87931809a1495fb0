#!/bin/sh
# Stands for a bank, which wants the token that env names.
if [ -z "$REFUND_TOKEN" ]; then
	echo "there is no REFUND_TOKEN" >&2
	exit 1
fi
echo '{"reference": "R-80"}'
