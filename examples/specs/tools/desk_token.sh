#!/bin/sh
# Stands for a vault that has a token for each team.
echo "$DESK_TOKEN"
