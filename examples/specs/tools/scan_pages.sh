#!/bin/sh
# Scans ten pages, and says on stderr how far it is.
page=0
while [ $page -lt 10 ]; do
	page=$((page + 1))
	echo "##progress $((page / 10)).$((page % 10)) page $page of 10" >&2
	sleep 0.3
done
echo 10 pages
