#!/bin/sh
# Counts, each store at its own pace.
case $(cat) in
*north*) sleep 0.1; echo '{"store": "north", "article": "coffee", "kilos": 4, "shelf": "N-114"}' ;;
*harbour*) sleep 0.5; echo '{"store": "harbour", "article": "coffee", "kilos": 5, "shelf": "H-207"}' ;;
*market*) sleep 0.3; echo '{"store": "market", "article": "coffee", "kilos": 0, "shelf": null}' ;;
*) echo "there is no such store" >&2; exit 1 ;;
esac
