#!/bin/sh
# Stands for an almanac.
day=$(sed 's/.*"\([0-9-]*\)"[^"]*$/\1/')
case $day in
05-02) echo "$day: sunny, 21 degrees" ;;
*) echo "$day: cloudy, 14 degrees" ;;
esac
