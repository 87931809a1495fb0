#!/bin/sh
# What was ordered is what was approved, which the test reads off the answer.
sleep 0.1
printf '{"order": "PO-90331", "of": %s}\n' "$(cat)"
