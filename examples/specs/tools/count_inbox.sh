#!/bin/sh
# How many letters are in no folder yet, and which.
n=0
for letter in $(ls inbox); do
	[ -e "bills/$letter" ] || [ -e "letters/$letter" ] || { n=$((n + 1)); open="$open,\"$letter\""; }
done
echo "{\"value\": $n, \"open\": [${open#,}]}"
