# git.sh - git: init, add, commit, branch, merge, log, diff, gc with fixed names and dates.
set -e
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org
export GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@example.org
export GIT_AUTHOR_DATE='2020-01-02T03:04:05Z' GIT_COMMITTER_DATE='2020-01-02T03:04:05Z'
export GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat
git init -q -b main .
seq 1 200 > file
mkdir dir
echo text > dir/other
git add .
git commit -q -m 'first'
git checkout -q -b side
sed -i 's/^100$/one hundred/' file
git commit -q -a -m 'on the side'
git checkout -q main
echo more >> dir/other
git commit -q -a -m 'on main'
git merge -q -m 'merge' side
git log --graph --format='%h %s'
git diff --stat HEAD~1
git show HEAD~1:dir/other
git status --short
git gc -q
git fsck --strict
git cat-file -p HEAD | sed -n 1p
git grep -n hundred
git bundle create -q ../bundle main 2>/dev/null && git bundle verify -q ../bundle && rm ../bundle
git checkout -q nowhere || echo "status $?"
