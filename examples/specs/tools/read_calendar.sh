#!/bin/sh
test -n "$CALENDAR_TOKEN" && echo "16:00 dentist, read with $CALENDAR_TOKEN"
