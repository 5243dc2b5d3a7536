#!/bin/bash
# bad_programs.sh DRDEBUG - what cannot be run is refused in one line, with the status bash gives.
drdebug=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

# refused NAME CAUSE: as bash does. NAME is what bash and drdebug are given.
refused() {
    bash -c '"$0"' "$1" >bash.out 2>&1 </dev/null
    refused_with $? "$1" "$2"
}

# refused_with STATUS NAME CAUSE: where bash has another answer than ours.
refused_with() {
    expect "$1" "" "drdebug: $2: $3" "$drdebug" run -- "$2"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$2: not one line: $err"
}

script() {
    printf '%b' "$2" >"$1"
    chmod +x "$1"
}

# patch FILE FROM TO: /bin/true with some bytes changed, as long as before.
patch() {
    sed "s#$2#$3#" /bin/true >"$1"
    chmod +x "$1"
}

cut_at() {
    head -c "$2" /bin/true >"$1"
    chmod +x "$1"
}

only='only 64-bit x86-64 programs can be run'

# Files that are not there, or are no files.
refused ./none "No such file or directory"
refused none-such-command "command not found"
refused "" "command not found"
refused ./dir "Is a directory"
refused /dev/null "not a regular file"
refused /bin/true/x "Not a directory"
ln -s loop loop
refused ./loop "Too many levels of symbolic links"
cp /bin/true plain && chmod 644 plain
refused ./plain "Permission denied"
mkfifo fifo && chmod 755 fifo
refused_with 126 ./fifo "not a regular file" # bash would wait for a writer

# The search.
mkdir p && cp plain p/found-but-plain && mkdir p/found-but-dir
PATH=p:$PATH refused found-but-plain "Permission denied"
PATH=p:$PATH refused found-but-dir "command not found"

# Other contents. bash would take text for a script of its own.
script binary '\0\1\2\3 binary'
refused ./binary "neither an ELF program nor a script with a #! line"
script text 'exit 3\n'
refused_with 126 ./text "neither an ELF program nor a script with a #! line"
script empty ''
refused_with 126 ./empty "the file is empty"

# ELF files: byte 5 is the class, 17 the type, 19 the machine.
patch narrow '^\(\x7fELF\)\x02' '\1\x01'
refused_with 126 ./narrow "a 32-bit program for x86-64; $only" # the kernel may know x32
patch arm '^\(\x7fELF.\{14\}\)\x3e' '\1\xb7'
refused ./arm "a program for AArch64; $only"
patch object '^\(\x7fELF.\{12\}\)\x03' '\1\x01'
refused ./object "an object file that is not linked, not a program"
cut_at cut_in_magic 10
refused ./cut_in_magic "truncated ELF file: its header reaches beyond the end, 10 bytes"
cut_at cut_in_header 40
refused ./cut_in_header "truncated ELF file: its header reaches beyond the end, 40 bytes"
cut_at cut_in_table 100
refused ./cut_in_table "truncated ELF file: its program header table reaches beyond the end, 100 bytes"
cut_at cut_in_segment 9000
refused_with 126 ./cut_in_segment "truncated ELF file: its segment * reaches beyond the end, 9000 bytes"
patch no_ld '/lib64/ld-linux' '/lib64/ld-linus'
refused ./no_ld "ELF interpreter /lib64/ld-linus*: No such file or directory"

# Scripts.
script no_interpreter '#!/no/such/interpreter\n'
refused ./no_interpreter "interpreter /no/such/interpreter: No such file or directory"
script crlf '#!/bin/sh\r\n'
refused ./crlf 'interpreter /bin/sh\\r: No such file or directory'
script plain_interpreter "#!$work/plain\n"
refused ./plain_interpreter "interpreter $work/plain: Permission denied"
script via "#!$work/no_interpreter\n"
refused ./via "interpreter /no/such/interpreter: No such file or directory"
script s0 '#!/bin/sh\n'
for i in 1 2 3 4 5; do script s$i "#!$work/s$((i - 1))\n"; done
refused ./s5 "its interpreter is a script, whose interpreter is a script, and so on"
script unnamed '#! \n'
refused_with 126 ./unnamed "a script with no interpreter on its #! line"

finish
