#!/bin/sh
case $(cat) in
*north*) echo '{"item": "bolts", "in_stock": 1200}' ;;
*) echo '{"item": "bolts", "in_stock": 0}' ;;
esac
