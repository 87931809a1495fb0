#!/bin/sh
# Stands for the books.
case $(cat) in
*INV-*) echo '{"number": "INV-12", "vendor": "Miller", "amount_usd": 90}' ;;
*)
	echo "there is no such number; they begin with INV-" >&2
	exit 1
	;;
esac
