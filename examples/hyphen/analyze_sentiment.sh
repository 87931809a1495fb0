#!/bin/sh
# Who is charged twice is not pleased.
if grep -q 'charged twice'; then
	echo '{"sentiment": "negative", "urgency": "high"}'
else
	echo '{"sentiment": "neutral", "urgency": "low"}'
fi
