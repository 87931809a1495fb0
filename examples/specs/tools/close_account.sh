#!/bin/sh
# Stands for what must not happen by itself.
echo closed
