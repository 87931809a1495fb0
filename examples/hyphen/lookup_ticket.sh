#!/bin/sh
# Stands for a ticket system: every ticket is the same.
echo '{"subject": "Billing Error", "status": "open", "priority": "high", "text": "I have been charged twice for my subscription."}'
