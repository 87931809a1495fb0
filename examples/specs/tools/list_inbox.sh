#!/bin/sh
# What the model sees before each turn: the letters that are in no folder yet.
for letter in $(ls inbox); do
	[ -e "bills/$letter" ] || [ -e "letters/$letter" ] || open="$open $letter"
done
echo "Not filed yet:${open:- none}"
