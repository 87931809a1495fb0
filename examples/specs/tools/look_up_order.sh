#!/bin/sh
# Stands for the shop: every order is the same.
echo '{"order": "4711", "paid_usd": 80, "delivered": "2026-11-12", "customer": "Ada"}'
