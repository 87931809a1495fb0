#!/bin/sh
# Adds a refund to refunds.csv. Its arguments are JSON on standard input: {"order":"4711","amount":83.9}
args=$(cat)
order=$(printf %s "$args" | sed 's/.*"order":"\([0-9]*\)".*/\1/')
amount=$(printf %s "$args" | sed 's/.*"amount":\([0-9.]*\).*/\1/')
if ! grep -q "^$order," orders.csv; then
	echo "there is no order $order in orders.csv" >&2
	exit 1
fi
echo "$order,$amount" >>refunds.csv
echo "refunds.csv: $order,$amount"
