#!/bin/sh
echo "Today the bank pays refunds to cards only."
