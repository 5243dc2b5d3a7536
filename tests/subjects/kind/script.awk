#!/usr/bin/awk -f
# script.awk - a script whose interpreter is not a shell.
BEGIN { for (i = 1; i < ARGC; i++) print i, ARGV[i]; print 2 ^ 20; exit 3 }
