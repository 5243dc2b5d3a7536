#!/bin/sh -e
# script.sh - a script run by its #! line, with an option there: argv, $0, children, status.
echo "name $(basename "$0"), $# arguments"
for a in "$@"; do echo "<$a>"; done
echo one two | sed 's/two/three/' | tr a-z A-Z
false || echo "false is $?"
exec sh -c 'exit 9'
