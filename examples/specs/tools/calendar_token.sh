#!/bin/sh
# Stands for a vault. It gets the labels as JSON, such as {"user":"ada"}.
user=$(sed 's/.*"user":"\([a-z]*\)".*/\1/')
if test -f "$user.granted"; then
	echo "{\"token\": \"calendar-token-of-$user\"}"
else
	echo "{\"link\": \"https://calendar.example.org/grant?user=$user\"}"
fi
