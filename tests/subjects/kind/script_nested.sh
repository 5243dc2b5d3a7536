#!./script_inner
echo never seen by a shell: script_inner reads this file
