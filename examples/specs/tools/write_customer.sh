#!/bin/sh
# Stands for the mail.
echo sent
