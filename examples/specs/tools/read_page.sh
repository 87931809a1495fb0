#!/bin/sh
# Stands for a long file: each page has some 4,000 bytes of little interest.
page=$(sed 's/[^0-9]//g')
echo "Page $page of 40."
case $page in
3) echo "In the year 31 the mill was built." ;;
31) echo "In the year 84 the mill burned down." ;;
esac
i=0
while [ $i -lt 60 ]; do
	i=$((i + 1))
	echo "Entry $page-$i: the weather was as usual, and nothing was delivered."
done
