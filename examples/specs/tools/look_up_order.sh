#!/bin/sh
# Stands for the shop: every order is the same but for its number.
order=$(sed 's/.*"order": *"\{0,1\}\([0-9A-Za-z]*\).*/\1/')
echo "{\"order\": \"$order\", \"paid_usd\": 80, \"delivered\": \"2026-11-12\", \"customer\": \"Ada\"}"
