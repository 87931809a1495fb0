#!/bin/sh
# Stands for a weather service.
case $(cat) in
*Oslo*) echo '{"celsius": -4, "sky": "snow"}' ;;
*) echo '{"celsius": 17, "sky": "clear"}' ;;
esac
