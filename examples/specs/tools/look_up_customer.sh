#!/bin/sh
echo '{"id":"C-12","name":"Ann Lee","account":"ACC-88"}'
