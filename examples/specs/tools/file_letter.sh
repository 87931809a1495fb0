#!/bin/sh
# Files a copy of a letter. The schema in mail.yaml lets nothing else in than NAME.txt.
args=$(cat)
letter=$(echo "$args" | sed 's/.*"letter":"\([^"]*\)".*/\1/')
folder=$(echo "$args" | sed 's/.*"folder":"\([^"]*\)".*/\1/')
mkdir -p "$folder" && cp "inbox/$letter" "$folder/" && echo "$letter is in $folder"
