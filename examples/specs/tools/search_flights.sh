#!/bin/sh
# Finds flights. The arguments come as JSON on stdin and are not looked at here.
cat >/dev/null
echo '{"flights": [
  {"number": "TP-4711", "departs": "2026-12-01T08:40", "price_usd": 129, "refundable": false},
  {"number": "LH-1172", "departs": "2026-12-01T11:05", "price_usd": 342, "refundable": true}]}'
