#!/usr/bin/perl
# work.pl - perl: hashes, regular expressions, sort, sprintf, pipes, signals, eval and die.
use strict;
use warnings;
$| = 1;
my %count;
my $seed = 7;
for (1 .. 20000) { $seed = ($seed * 1103515 + 12345) % 65537; $count{$seed % 101}++; }
printf "%d keys, top %s\n", scalar keys %count,
    join ",", (sort { $count{$b} <=> $count{$a} || $a <=> $b } keys %count)[0 .. 4];
my $text = join " ", map { "word$_" } 1 .. 2000;
my $n = () = $text =~ /\bword\d*7\b/g;
(my $t = $text) =~ s/(\d+)/<$1>/g;
print "$n matches, ", length $t, "\n";
eval { die { code => 5 } };
print "died with $@->{code}\n";
open my $p, "-|", "seq 1 5" or die;
print "sum ", eval { my $s = 0; $s += $_ while <$p>; $s }, "\n";
close $p;
my $got = 0;
$SIG{USR1} = sub { $got++ };
kill USR1 => $$ for 1 .. 3;
print "signals $got\n";
local $SIG{ALRM} = sub { die "alarm\n" };
eval { alarm 1; 1 while 1; };
print "eval: $@";
print "status ", system("exit 3") >> 8, " ", `echo backticks`;
exit 6;
