#!/bin/sh
# Stands for a version control system.
echo 'add: export as CSV'
echo 'fix: dates before 1970'
echo 'chore: rename a variable'
