#!/bin/sh
# script_inner.sh - is the interpreter of script_nested.sh: a script run by a script.
echo "inner of $(basename "$1"), rest $2"
sed -n 2p "$1"
