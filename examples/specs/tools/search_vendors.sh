#!/bin/sh
# Arguments come as one JSON object on stdin; what is printed is the result.
case $(cat) in
*cloud*) echo '[{"id":"v-17","price":420},{"id":"v-4","price":480}]' ;;
*) echo '[]' ;;
esac
