#!/bin/sh
case $(cat) in
*Rosa*) sleep 0.2; echo '{"name": "Rosa & Sons", "vendor": "V-2207", "per_kilo": 11.40, "delivery": "Friday"}' ;;
*) sleep 0.1; echo '{"name": "Bean & Co", "vendor": "V-1180", "per_kilo": 12.10, "delivery": "Thursday"}' ;;
esac
