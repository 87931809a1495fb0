#!/bin/sh
echo '{"paid":true}'
