"""catalogue.py - the Debian programs that program_case.py runs, one row each.

SPDX-License-Identifier: MIT

In argv, set-up, client and environment {work} is the working directory, {input} the folder of this name here and
{port} a free port. The recorded process does the work itself where that can be had: children are not recorded. So
compilers that only start others appear by what they compile; the set-up runs natively, once.
"""
import shlex


class Row:
    """package: gives the version. also: further packages. varies: no two runs show the same, so only replay and
    recording are compared. parts: children write, too. client: shell text that works on a server. x11: needs a
    display. files: name and text of what each run finds, beside what the set-up left. quick: one of the dozen that
    `./dev test` runs, in seconds and from small packages. limit: seconds. The rest as in tests/subjects/cases.py."""

    def __init__(self, name, package, argv, what="", also=(), setup="", stdin=None, env=None, client="", x11=False,
                 varies=False, parts=False, quick=False, status=0, limit=60, norm=(), ignore_files=(), needs=None,
                 files=None):
        self.name, self.package, self.also = name, package, also
        self.argv = shlex.split(argv) if isinstance(argv, str) else list(argv)
        self.what = what or " ".join(self.argv)
        self.setup, self.stdin, self.env, self.client, self.x11 = setup, stdin, env or {}, client, x11
        self.varies, self.parts, self.quick = varies or bool(client), parts, quick
        self.status, self.limit, self.norm, self.ignore_files = status, limit, norm, ignore_files
        self.files = files or {}
        self.needs = (self.argv[0],) if needs is None and not self.argv[0].startswith(("{", "./")) else needs or ()


ROWS = []


def row(*args, **more):
    ROWS.append(Row(*args, **more))


LINES = "awk 'BEGIN { for (i = 1; i <= 60000; i++) print (i * 7919) % 65537, \"text\", i % 97 }' > input; "
TEXT = ("awk 'BEGIN { for (i = 1; i <= 3000; i++) print \"Line\", i, \"of a text with words and\", i % 7, "
    "\"repeats.\" }' > text; ")
IMAGE = ("awk 'BEGIN { print \"P3 160 120 255\"; for (i = 0; i < 19200; i++) print i % 256, (i * 7) % 256, (i * "
    "i) % 256 }' > in.ppm; ")
SOUND = "sox -n -r 22050 -c 1 -b 16 -D in.wav synth 2 sine 300-900; "
VIDEO = ("ffmpeg -nostdin -loglevel error -f lavfi -i testsrc=size=320x240:rate=25:duration=2 -pix_fmt yuv420p "
    "in.y4m; ")
TREE = ("mkdir -p d/e; " + LINES +
    "cp input d/one; head -100 input > d/e/two; ln -s one d/link; touch -d @1000000 d/one d/e/two; ")
PAGE = "mkdir -p www; " + LINES + "cp input www/file; echo hello > www/index.html; "
FETCH = ("curl -s http://127.0.0.1:{port}/index.html; for i in 1 2 3 4 5; do curl -s "
    "http://127.0.0.1:{port}/file | md5sum; done; curl -s -o /dev/null -w '%{http_code}\\n' "
    "http://127.0.0.1:{port}/none")
JAVA = "-Xmx64m -Xshare:auto -cp . "

# Machines that make code while they run, or have schedulers and collectors of their own.
row("java_hello", "openjdk-17-jre-headless", f"java {JAVA} Hello", "hello, world", also=("openjdk-17-jdk-headless",),
    setup="javac -d . {input}/Hello.java")
row("java_gc", "openjdk-17-jre-headless", f"java {JAVA} Gc", "threads and garbage, serial collector",
    setup="javac -d . {input}/Gc.java", quick=True)
row("java_g1", "openjdk-17-jre-headless", f"java -XX:+UseG1GC {JAVA} Gc", "threads and garbage, G1",
    setup="javac -d . {input}/Gc.java")
row("java_zgc", "openjdk-17-jre-headless", f"java -XX:+UseZGC {JAVA} Gc", "threads and garbage, ZGC",
    setup="javac -d . {input}/Gc.java")
row("java_npe", "openjdk-17-jre-headless", f"java {JAVA} Npe", "a NullPointerException", status=1,
    setup="javac -d . {input}/Npe.java")
row("javac", "openjdk-17-jdk-headless", "javac -d out {input}/Gc.java", "javac Gc.java", ignore_files=[r"hsperf"])
row("node", "nodejs", "node -e 'console.log([1, 2, 3].map(x => x * 2), JSON.stringify({a: 1}))'", "hello, world",
    quick=True)
row("node_workers", "nodejs", "node {input}/workers.js", "worker threads, thread pool, hot loops")
row("fzf", "fzf", ["sh", "-c", "exec fzf --filter 771 < input"], "fzf --filter (Go)", setup=LINES, quick=True,
    needs=("fzf",))
row("goroutines", "golang-go", "./goroutines", "1,000 goroutines, garbage, signals (Go)",
    setup="HOME=/tmp/ GOCACHE=$PWD/cache GO111MODULE=off go build -o goroutines {input}/goroutines.go; chmod -R "
    "u+w cache; rm -rf cache", limit=120)
row("miller", "miller", "mlr --inidx --ifs space --ojson stats1 -a sum,p50,max -f 1 -g 3 input",
    "mlr statistics (Go)", setup=LINES)
row("ripgrep", "ripgrep", "rg -n --sort path '77+1' .", "rg over a tree (Rust)", setup=TREE, quick=True)
row("rust_threads", "rustc", "./words", "threads, channels, a panic (Rust)",
    setup="rustc -O -o words {input}/words.rs", limit=120, norm=[(r"thread '<unnamed>' panicked.*", "")])
row("rustc", "rustc", "rustc --emit=obj -o words.o {input}/words.rs", "compile a file to an object", limit=120,
    ignore_files=[r"words\.o"])
row("mono", "mono-runtime", "mono Tasks.exe", "threads, garbage, an exception (C#)", also=("mono-mcs",),
    setup="mcs -out:Tasks.exe {input}/Tasks.cs")
row("ruby", "ruby", ["ruby", "-e",
    "t = (1..4).map { |i| Thread.new { (1..20000).sum { |x| x * i } } }\np t.map(&:value)\nh = Hash.new(0); "
    "50000.times { |i| h[i % 97] += i }; GC.start; p h.sort.first(3)"], "threads, hashes, GC")
row("php", "php-cli", ["php", "-n", "-r",
    "$s = 0; for ($i = 0; $i < 500000; $i++) { $s += $i % 7; } echo $s, PHP_EOL; echo md5(implode(',', "
    "array_map(fn($x) => $x * 2, range(1, 10000)))), PHP_EOL;"], "loops and arrays")
row("lua", "lua5.4", ["lua5.4", "-e",
    "local t = {} for i = 1, 300000 do t[i % 1000] = i * 2 end local c = coroutine.wrap(function() for i = "
    "1, 9 do coroutine.yield(i) end end) print(t[5], c(), c())"], "tables and coroutines", quick=True)
row("luajit", "luajit", ["luajit", "-e",
    "local s = 0 for i = 1, 3e7 do s = s + i % 7 end print(s) local t = {} for i = 1, 1e5 do t[#t + 1] = "
    "tostring(i) end print(#table.concat(t))"], "traced loops", quick=True)
row("python", "python3", ["/usr/bin/python3", "-B", "-c",
    "import json, re, threading, decimal\nr = []\nts = [threading.Thread(target=lambda i=i: "
    "r.append(sum(range(i * 10000)))) for i in range(4)]\n[t.start() for t in ts]; [t.join() for t in ts]"
    "\nprint(sorted(r), decimal.Decimal(2).sqrt(), len(re.findall('a.', 'abac' * 10000)))"], "threads, json, re",
    quick=True)
row("perl", "perl", ["perl", "-e",
    "my %h; $h{$_ % 97} .= chr(65 + $_ % 26) for 1..200000; print length(join '', map { $h{$_} } sort keys "
    "%h), qq(\\n)"], "hashes and strings")
row("tcl", "tcl", "tclsh script", "tclsh loops",
    setup="printf '%s\\n' 'proc f n {expr {$n < 2 ? $n : [f [expr {$n-1}]] + [f [expr {$n-2}]]}}' 'puts [f 17]' "
    "'puts [llength [split [string repeat {a b } 9999]]]' > script")
row("guile", "guile-3.0", ["guile", "--no-auto-compile", "-c",
    "(display (let loop ((i 0) (s 0)) (if (= i 300000) s (loop (+ i 1) (+ s (modulo i 7))))))(newline)"],
    "a loop (JIT)")
row("sbcl", "sbcl", ["sbcl", "--noinform", "--no-userinit", "--non-interactive", "--eval",
    "(defun f (n) (if (< n 2) n (+ (f (- n 1)) (f (- n 2)))))", "--eval", "(compile 'f)", "--eval",
    "(progn (print (f 24)) (gc :full t) (print (handler-case (car 5) (error () :caught))) (terpri))"],
    "compile, run, collect (Lisp)")
row("chicken", "chicken-bin", ["csi", "-n", "-e",
    "(print (let loop ((i 0) (s 0)) (if (= i 100000) s (loop (+ i 1) (+ s (modulo i 7))))))"], "a loop (Scheme)")
row("erlang", "erlang-base", ["erl", "-noshell", "-eval",
    "P = self(), [spawn(fun() -> P ! lists:sum(lists:seq(1, I)) end) || I <- lists:seq(1, 500)], "
    "io:format(\"~p~n\", [lists:sum([receive X -> X end || _ <- lists:seq(1, 500)])]), halt(0)."],
    "500 processes on the BEAM", limit=120)
row("elixir", "elixir", ["elixir", "-e",
    "1..200 |> Enum.map(fn i -> Task.async(fn -> Enum.sum(1..i) end) end) |> Enum.map(&Task.await/1) |> "
    "Enum.sum() |> IO.puts()"], "200 tasks on the BEAM", limit=120)
row("ocaml", "ocaml-nox", "ocaml script.ml", "the toplevel runs a script",
    setup="echo 'let rec f n = if n < 2 then n else f (n - 1) + f (n - 2);; print_int (f 22); print_newline ()' > "
    "script.ml")
row("ocamlc", "ocaml-nox", "ocamlc -c script.ml", "compile to bytecode",
    setup="echo 'let rec f n = if n < 2 then n else f (n - 1) + f (n - 2);; print_int (f 22)' > script.ml")
row("swipl", "swi-prolog-nox", ["swipl", "-q", "-g",
    "numlist(1, 50000, L), foldl([X, A, B]>>(B is A + X mod 7), L, 0, S), print(S), nl", "-t", "halt"],
    "lists (Prolog)")
row("gforth", "gforth", ["gforth", "-e",
    ": f dup 2 < if else dup 1- recurse swap 2 - recurse + then ; 22 f . cr bye"], "recursion (Forth)")
row("r", "r-base-core", ["Rscript", "-e",
    "set.seed(7); x <- rnorm(1000); print(summary(lm(x ~ seq_along(x)))$r.squared); print(det(matrix(1:9 + "
    "0.5, 3)))"], "a regression", limit=120)
row("pari", "pari-gp", "gp -q -f", "factor, integrate", stdin="factor(2^101-1)\nnextprime(10^30)\nprimepi(10^5)\n")
row("units", "units", "units -t '3 miles/hour' 'm/s'", "convert")
row("bc", "bc", "bc -l", "pi to 400 digits", stdin="scale=400\n4*a(1)\n", quick=True)

# Compilers and their tools.
row("clang", "clang", "clang -O2 -c -o sums.o sums.c", "compile to an object",
    setup="echo '#include <stdio.h>\nint main(void) { for (int i = 0; i < 9; i++) printf(\"%d\", i * i); return "
    "0; }' > sums.c", limit=120)
row("cc1", "cpp-12", ["/usr/lib/gcc/x86_64-linux-gnu/12/cc1", "-quiet", "-O2", "sums.i", "-o", "sums.s"],
    "gcc's compiler proper", also=("gcc-12",),
    setup="echo '#include <stdio.h>\nint main(void) { for (int i = 0; i < 9; i++) printf(\"%d\", i * i); return "
    "0; }' > sums.c; gcc -E sums.c > sums.i")
row("gnat", "gnat", "./tasks", "tasks, a protected object, an exception (Ada)",
    setup="cp {input}/tasks.adb .; gnatmake -q -gnat2022 -O1 tasks.adb")
row("gfortran", "gfortran", "./sums", "OpenMP loops (Fortran)",
    setup="gfortran -O2 -fopenmp -o sums {input}/sums.f90", env={"OMP_NUM_THREADS": "4"})
row("nasm", "nasm", "nasm -f elf64 -o a.o a.asm", "assemble 20,000 lines",
    setup="awk 'BEGIN { print \"section .text\"; for (i = 0; i < 20000; i++) print \"l\" i \": mov rax, \" i "
    "\"\\n jmp l\" i }' > a.asm")
row("ld", "binutils", "ld -o a a.o", "link",
    setup="echo '.globl _start\n_start: mov $60, %eax; xor %edi, %edi; syscall' | as -o a.o")
row("cmake", "cmake", ["cmake", "-P", "script.cmake"], "a script",
    setup="echo 'foreach(i RANGE 3000)\nlist(APPEND l ${i})\nendforeach()\nlist(LENGTH l n)\nfile(WRITE out ${n})"
    "\nfile(SHA256 out h)\nmessage(${h})' > script.cmake")
row("valac", "valac", "valac -C hello.vala", "to C",
    setup="echo 'void main() { for (int i = 0; i < 3; i++) print(\"%d\\n\", i); }' > hello.vala", limit=60)
row("shellcheck", "shellcheck", "shellcheck -s sh script", "check a script (Haskell)",
    setup="printf 'for i in $(ls); do echo $i; done\\n' > script", status=1)
row("pandoc", "pandoc", "pandoc -f markdown -t html text.md", "markdown to HTML (Haskell)", limit=120,
    setup="awk 'BEGIN { for (i = 0; i < 200; i++) print \"# Part \" i \"\\n\\n* one *two* `three`\\n* "
    "[link](http://x/)\\n\" }' > text.md")
row("z3", "z3", "z3 -smt2 problem", "solve", setup="printf '%s\\n' '(declare-const x Int)(declare-const y Int)' "
    "'(assert (and (> x 10) (< y 7) (= (* x 3) (+ (* y 5) 100)) (> y (- 50))))(check-sat)(get-model)' > problem")
row("stockfish", "stockfish", ["sh", "-c", "exec /usr/games/stockfish < uci"], "search a position (AVX2, two threads)",
    setup="printf 'setoption name Threads value 2\\nposition startpos\\ngo depth 12\\nisready\\nquit\\n' > uci",
    varies=True, needs=("/usr/games/stockfish",), limit=120)
row("minisat", "minisat", "minisat -verb=0 problem.cnf out", "pigeons and holes", status=20,
    setup="awk 'BEGIN { n = 7; print \"p cnf\", (n + 1) * n, n + 1 + n * (n + 1) * n / 2; for (p = 0; p <= n; "
    "p++) { s = \"\"; for (h = 1; h <= n; h++) s = s (p * n + h) \" \"; print s 0 } for (h = 1; h <= n; "
    "h++) for (p = 0; p <= n; p++) for (q = p + 1; q <= n; q++) print -(p * n + h), -(q * n + h), 0 }' > "
    "problem.cnf")
row("glpsol", "glpk-utils", "glpsol --math problem.mod", "a linear program",
    setup="printf 'var x >= 0; var y >= 0;\\nmaximize z: 3*x + 2*y;\\ns.t. a: x + y <= 4; b: x + 3*y <= 6; c: x "
    "<= 3;\\nsolve; display x, y; end;\\n' > problem.mod", norm=[(r"Time used:.*|Memory used:.*", "")])

# Editors and text.
row("emacs", "emacs-nox", ["emacs", "-batch", "-Q", "--eval",
    "(with-temp-buffer (insert-file-contents \"text\") (goto-char 1) (while (re-search-forward \"repeats\" "
    "nil t) (replace-match \"again\")) (sort-lines t 1 (point-max)) (write-file \"out\"))"], "replace and sort",
    setup=TEXT, limit=120)
row("vim", "vim-nox", ["vim", "-es", "-u", "NONE", "-i", "NONE", "-c", "%s/words/WORDS/g", "-c", "sort! n", "-c",
    "wq! out", "text"], "replace and sort", setup=TEXT, ignore_files=[r"\.swp"], also=("vim-runtime",))
row("ed", "ed", "ed -s text", "replace", setup=TEXT, stdin=",s/words/WORDS/g\nw out\nq\n")
row("gawk", "gawk", ["gawk", "{ s[$3] += $1 } END { n = asorti(s, k); for (i = 1; i <= n; i++) print k[i], s[k[i]] }",
    "input"], "sums", setup=LINES)
row("jq", "jq", "jq -c 'map(.a * 2) | add, length' in.json", "sum",
    setup="awk 'BEGIN { printf \"[\"; for (i = 0; i < 20000; i++) printf \"%s{\\\"a\\\":%d}\", i ? \",\" : \"\", "
    "i; print \"]\" }' > in.json", quick=True)
row("xmllint", "libxml2-utils", "xmllint --xpath 'count(//b[@n > 50])' in.xml", "XPath",
    setup="awk 'BEGIN { print \"<a>\"; for (i = 0; i < 20000; i++) print \"<b n=\\\"\" i % 97 \"\\\">t</b>\"; "
    "print \"</a>\" }' > in.xml")
row("xsltproc", "xsltproc", "xsltproc s.xsl in.xml", "transform",
    setup="awk 'BEGIN { print \"<a>\"; for (i = 0; i < 5000; i++) print \"<b n=\\\"\" i % 97 \"\\\">t</b>\"; "
    "print \"</a>\" }' > in.xml; printf '%s' '<xsl:stylesheet version=\"1.0\" "
    "xmlns:xsl=\"http://www.w3.org/1999/XSL/Transform\"><xsl:template match=\"/\"><r><xsl:for-each "
    "select=\"//b\"><xsl:sort select=\"@n\"/><xsl:value-of "
    "select=\"@n\"/>,</xsl:for-each></r></xsl:template></xsl:stylesheet>' > s.xsl")
row("hunspell", "hunspell", "hunspell -l -d en_US text", "find errors", also=("hunspell-en-us",),
    setup="echo 'Ths is a txt with errrs in it' > text")
row("pdflatex", "texlive-latex-base", "pdflatex -interaction=batchmode paper.tex", "a page",
    setup="cp {input}/paper.tex .", limit=120, env={"SOURCE_DATE_EPOCH": "1000000000", "FORCE_SOURCE_DATE": "1"},
    ignore_files=[r"\.log$"])
row("groff", "groff-base", "groff -man -Tascii page.1", "a manual page",
    setup="printf '.TH A 1\\n.SH NAME\\na \\- b\\n.SH TEXT\\nwords words words\\n' > page.1", parts=True)

# Compressors and archives.
row("xz", "xz-utils", "xz -T2 -1 --block-size=150000 -k input", "two threads", setup=LINES)
row("zstd", "zstd", "zstd -q -T2 -5 input -o out.zst", "two threads", setup=LINES, quick=True)
row("gzip", "gzip", "gzip -9n input", "", setup=LINES)
row("bzip2", "bzip2", "bzip2 input", "", setup=LINES)
row("pigz", "pigz", "pigz -p 3 -b 128 -n input", "three threads", setup=LINES)
row("brotli", "brotli", "brotli -q 6 input", "", setup=LINES)
row("lz4", "lz4", "lz4 -q -9 input out.lz4", "", setup=LINES)
row("lzip", "lzip", "lzip -1 input", "", setup=LINES)
row("7z", "p7zip-full", "7z a -bd -mmt2 -mx3 -mtm- out.7z input", "two threads", setup=LINES, varies=True)
row("zip", "zip", "zip -q -X out.zip input", "", setup=LINES + "touch -d @1000000000 input")
row("tar", "tar", "tar cf out.tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 d", "a tree", setup=TREE)
row("cpio", "cpio", "cpio -o -H ustar -O out.cpio --reproducible", "", setup=TREE, stdin="d/one\nd/e/two\n",
    ignore_files=[r"out\.cpio"])
row("mksquashfs", "squashfs-tools",
    "mksquashfs d out.sqfs -quiet -no-progress -processors 2 -all-time 0 -mkfs-time 0", "threads", setup=TREE)
row("xorriso", "xorriso", "xorriso -as mkisofs -quiet -o out.iso d", "an ISO image", setup=TREE,
    ignore_files=[r"out\.iso"])

# Pictures, sound and video.
row("ffmpeg", "ffmpeg", "ffmpeg -nostdin -loglevel error -i in.y4m -c:v libx264 -threads 4 -f md5 -",
    "x264, four threads", setup=VIDEO, limit=120)
row("ffmpeg_x265", "ffmpeg",
    "ffmpeg -nostdin -loglevel error -i in.y4m -c:v libx265 -x265-params log-level=none:pools=2 -preset "
    "ultrafast -f md5 -", "x265, thread pool", setup=VIDEO, limit=120)
row("ffmpeg_vp9", "ffmpeg",
    "ffmpeg -nostdin -loglevel error -i in.y4m -c:v libvpx-vp9 -cpu-used 8 -deadline realtime -row-mt 1 "
    "-threads 4 -f md5 -", "VP9", setup=VIDEO, limit=120)
row("x264", "x264", "x264 --quiet --no-progress --threads 4 -o out.264 in.y4m", "four threads, AVX2",
    also=("ffmpeg",), setup=VIDEO, limit=120, norm=[(r"encoded .*", "")])
row("sox", "sox", "sox -D in.wav out.wav reverb 40 tempo 1.2 rate 16000", "effects", setup=SOUND)
row("flac", "flac", "flac -s -8 in.wav", "encode", also=("sox",), setup=SOUND)
row("lame", "lame", "lame --quiet -V 4 in.wav out.mp3", "encode", setup=SOUND)
row("oggenc", "vorbis-tools", "oggenc -Q --serial 7 in.wav -o out.ogg", "encode", setup=SOUND)
row("opusenc", "opus-tools", "opusenc --quiet --serial 7 in.wav out.opus", "encode", setup=SOUND)
row("espeak", "espeak-ng", "espeak-ng -w out.wav 'some words'", "speech to a file")
row("convert", "imagemagick", "convert in.ppm -blur 0x2 -resize 80x60 -rotate 30 out.ppm",
    "blur, resize, rotate (OpenMP)", setup=IMAGE, env={"OMP_NUM_THREADS": "4"})
row("cwebp", "webp", "cwebp -quiet -mt -q 70 in.png -o out.webp", "encode, threads", also=("imagemagick",),
    setup=IMAGE + "convert in.ppm in.png")
row("optipng", "optipng", "optipng -quiet -o2 in.png", "recompress", also=("imagemagick",), setup=IMAGE +
    "convert in.ppm -define png:exclude-chunks=date,tIME in.png")
row("rsvg", "librsvg2-bin", "rsvg-convert in.svg -o out.png", "draw (Rust, cairo)",
    setup="echo '<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"200\" height=\"100\"><circle cx=\"50\" "
    "cy=\"50\" r=\"40\" fill=\"red\"/><path d=\"M10 10 C 60 80, 120 0, 190 90\" stroke=\"blue\" "
    "fill=\"none\"/></svg>' > in.svg")
row("dot", "graphviz", "dot -Tsvg in.dot", "lay out a graph",
    setup="awk 'BEGIN { print \"digraph {\"; for (i = 1; i < 120; i++) print int(i / 2), \"->\", i; print \"}\" "
    "}' > in.dot")
row("gnuplot", "gnuplot-nox", "gnuplot script", "plot to SVG",
    setup="printf 'set term svg\\nset output \"out.svg\"\\nset isosamples 40\\nsplot x*x-y*y\\n' > script")
row("ghostscript", "ghostscript", "gs -q -dNOPAUSE -dBATCH -sDEVICE=ppmraw -r72 -sOutputFile=out.ppm {input}/page.ps",
    "draw a page")
row("pdftotext", "poppler-utils", "pdftotext page.pdf -", "read a PDF", also=("ghostscript",),
    setup="ps2pdf {input}/page.ps page.pdf")
row("qpdf", "qpdf", "qpdf --deterministic-id --linearize page.pdf out.pdf", "linearize", also=("ghostscript",),
    setup="ps2pdf {input}/page.ps page.pdf")
row("tesseract", "tesseract-ocr", "tesseract in.pbm - --psm 7", "read a word (OpenMP)",
    also=("tesseract-ocr-eng", "imagemagick", "fonts-dejavu-core"),
    setup="convert -size 300x60 xc:white -font DejaVu-Sans -pointsize 36 -draw 'text 20,42 \"Words\"' in.pbm",
    env={"OMP_THREAD_LIMIT": "2"}, limit=120)

# Windows on a virtual display.
row("gtk", "python3-gi", "/usr/bin/python3 -B {input}/window.py", "a GTK window opens and closes",
    also=("gir1.2-gtk-3.0", "xvfb"), x11=True, varies=True, limit=120)
row("zenity", "zenity", "zenity --info --text hello --timeout 1", "a GTK dialog, closed by its timer", also=("xvfb",),
    x11=True, varies=True, status=5, limit=120)
row("xterm", "xterm", "xterm -e true", "a terminal opens and closes", also=("xvfb",), x11=True, varies=True)
row("xwd", "x11-apps", "xwd -root -silent -out out.xwd", "a screenshot", also=("xvfb",), x11=True)

# Databases and servers.
row("sqlite", "sqlite3", "sqlite3 file.db", "tables, index, sort",
    stdin="create table t(a integer primary key, b text);\nwith recursive n(i) as (select 1 union all select i + "
    "1 from n where i < 20000) insert into t select i, printf('%05d', i * 7919 % 65537) from n;\ncreate "
    "index tb on t(b);\nselect count(*), sum(a), min(b) from t;\nselect b from t order by b desc limit 5;" "\n",
    ignore_files=["file.db"])
AS_NOBODY = "exec setpriv --reuid nobody --clear-groups "  # some refuse to be root
row("postgres", "postgresql-15", ["sh", "-c", f"[ $(id -u) -ne 0 ] || {AS_NOBODY} $0 \"$@\"; exec $0 \"$@\"",
    "/usr/lib/postgresql/15/bin/postgres", "--single", "-D", "{work}/db", "postgres"], "single-user mode",
    setup="if [ $(id -u) -eq 0 ]; then chmod a+x .. ../..; chown nobody .; as='setpriv --reuid nobody "
    "--clear-groups'; fi; $as /usr/lib/postgresql/15/bin/initdb -A trust -D db >/dev/null",
    stdin="create table t as select i, i % 97 k from generate_series(1, 20000) i;\nselect sum(i), count(distinct "
    "k) from t;\n", varies=True, needs=("/usr/lib/postgresql/15/bin/postgres",))
row("mariadb", "mariadb-server-core", ["sh", "-c", "exec /usr/sbin/mariadbd --no-defaults --user=root --bootstrap "
    "--datadir={work}/db --skip-grant-tables < boot.sql"], "InnoDB is made, a table filled (14 threads)", varies=True,
    needs=("/usr/sbin/mariadbd",), setup="mkdir db; printf '%s;\\n' 'create database x' 'use x' "
    "'create table t(a int) engine=innodb' 'insert into t values (1),(2)' > boot.sql", limit=120)
row("redis", "redis-server", "redis-server --port {port} --save '' --appendonly no", "redis-benchmark",
    also=("redis-tools",),
    client="redis-benchmark -p {port} -n 3000 -c 10 -q -t set,get,lpush >/dev/null; redis-cli -p {port} dbsize; "
    "redis-cli -p {port} shutdown nosave || true")
row("memcached", "memcached", "memcached -l 127.0.0.1 -p {port} -U 0 -t 4 -u root", "200 sets and gets",
    also=("netcat-openbsd",),
    client="awk 'BEGIN { for (i = 0; i < 200; i++) printf \"set k%d 0 0 5\\r\\n%05d\\r\\nget k%d\\r\\n\", i, i, i; "
    "printf \"quit\\r\\n\" }' | nc 127.0.0.1 {port} | md5sum")
row("nginx", "nginx-light", "nginx -p {work} -c nginx.conf -e error.log", "one process, seven requests",
    also=("curl",), client=FETCH, setup=PAGE, files={"nginx.conf":
    "daemon off; master_process off; pid nginx.pid; events {} http { access_log access.log; "
    "client_body_temp_path t; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s; "
    "server { listen 127.0.0.1:{port}; root www; } }\n"})
row("haproxy", "haproxy", "haproxy -db -f haproxy.cfg", "four threads, seven requests", also=("curl",), client=FETCH,
    status=-15, files={"haproxy.cfg":
    "global\n nbthread 4\ndefaults\n mode http\n timeout connect 5s\n timeout client 5s\n timeout server 5s"
    "\nfrontend f\n bind 127.0.0.1:{port}\n http-request return status 200 content-type text/plain string "
    "hello if { path /index.html }\n http-request return status 404\n"})
row("lighttpd", "lighttpd", "lighttpd -D -f lighttpd.conf", "seven requests", also=("curl",), client=FETCH,
    setup=PAGE, files={"lighttpd.conf":
    'server.document-root = "{work}/www"\nserver.port = {port}\nserver.bind = "127.0.0.1"\n'})
row("python_http", "python3", "/usr/bin/python3 -B -u -m http.server --bind 127.0.0.1 {port}", "seven requests",
    also=("curl",), client=FETCH, setup=PAGE + "mv www/* .", status=-15)
row("dnsmasq", "dnsmasq-base", "dnsmasq -k -C /dev/null -p {port} --bind-interfaces --listen-address=127.0.0.1 "
    "--address=/x.test/10.1.2.3 --no-resolv --no-hosts --user=root --pid-file=", "five queries",
    also=("bind9-dnsutils",), client="for i in 1 2 3 4 5; do dig +short +tcp -p {port} @127.0.0.1 a$i.x.test; done")
row("curl", "curl", "curl -s -S file://{work}/input -o out", "a file", setup=LINES)
row("openssl", "openssl", "openssl genrsa 1024", "make a key", varies=True, quick=True)
row("gpg", "gnupg",
    "gpg --homedir {work}/h --batch --passphrase words -q --symmetric --cipher-algo AES256 -o out.gpg input",
    "encrypt", also=("gpg",), setup=LINES + "mkdir -m 700 h", varies=True, limit=60)

# Shells, version control and the rest.
row("bash", "bash", ["bash", "--norc", "-c",
    "declare -A a; for ((i = 0; i < 20000; i++)); do ((a[$((i % 97))] += i)); done; echo ${a[5]} ${#a[@]}"], "loops",
    quick=True)
row("dash", "dash", ["dash", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done; echo $i"], "a loop")
row("zsh", "zsh", ["zsh", "-f", "-c",
    "typeset -A a; for i in {1..20000}; do (( a[$((i % 97))] += i )); done; print $a[5] ${#a}"], "loops")
row("fish", "fish", ["fish", "--no-config", "-c",
    "set s 0; for i in (seq 1 2000); set s (math $s + $i); end; echo $s"], "loops", parts=True, varies=True)
row("mksh", "mksh", ["mksh", "-c", "i=0; while (( i < 30000 )); do (( i++ )); done; echo $i"], "a loop")
row("git", "git", "git log --stat --no-color", "a log with differences", env={"GIT_PAGER": "cat"},
    setup="git init -q .; git config user.name n; git config user.email e; for i in 1 2 3 4 5; do seq 1 $((i * "
    "300)) > f; git add f; GIT_AUTHOR_DATE=\"@100000000$i +0000\" GIT_COMMITTER_DATE=\"@100000000$i "
    "+0000\" git commit -qm c$i; done")
row("hg", "mercurial", "hg log -p", "a log with differences",
    setup="hg init .; for i in 1 2 3; do seq 1 $((i * 300)) > f; hg add -q f; hg commit -u n -d '0 0' -m c$i; "
    "done", ignore_files=[r"\.hg/"])
row("svn", "subversion", "svn log -v file://{work}/repo", "a log",
    setup="svnadmin create repo; svn -q checkout file://$PWD/repo w; seq 1 500 > w/f; svn -q add w/f; svn -q "
    "commit -m one w", norm=[(r"\d{4}-\d\d-\d\d.*", "")], ignore_files=[r"repo/", r"w/", r"\.subversion"])
row("fossil", "fossil", "fossil new --admin-user n repo.fossil", "a repository", varies=True)
row("qemu_img", "qemu-utils", "qemu-img convert -f raw -O qcow2 -c in.raw out.qcow2",
    "compress an image (coroutines)", setup=LINES + "cp input in.raw; truncate -s 8M in.raw")
row("mke2fs", "e2fsprogs", "mke2fs -q -F -t ext4 -U 12345678-1234-1234-1234-123456789abc -E "
    "hash_seed=12345678-1234-1234-1234-123456789abc disk", "a file system", setup="truncate -s 16M disk",
    ignore_files=["disk"], needs=("/sbin/mke2fs",))
row("mtools", "mtools", "mcopy -i disk input ::/input", "into a FAT image", also=("dosfstools",), setup=LINES +
    "truncate -s 4M disk; /sbin/mkfs.fat disk >/dev/null", ignore_files=["disk"])
row("sort", "coreutils", "sort --parallel=4 -S 20M -k3,3n -k1,1n input -o sorted", "four threads", setup=LINES)
row("grep", "grep", "grep -cE '^(12|34)[0-9]* text 5' input", "", setup=LINES)
row("rsync", "rsync", "rsync -a --no-whole-file d/ copy/", "copy a tree (three processes)", setup=TREE, varies=True)
row("find", "findutils", "find d -type f -newermt 1970-01-02", "", setup=TREE, varies=True)
row("gdb", "gdb", ["gdb", "-nx", "-batch", "-ex", "info line main", "-ex", "disassemble main", "a"],
    "symbols, disassembly", setup="echo 'int main(void) { return 3; }' > a.c; gcc -g -o a a.c")
row("objdump", "binutils", "objdump -d /usr/bin/env", "disassemble")
row("jemalloc", "libjemalloc2", ["env", "LD_PRELOAD=libjemalloc.so.2", "/usr/bin/python3", "-B", "-c",
    "import threading\ndef f(n): return sum(len(str(i) * 3) for i in range(n))\nts = "
    "[threading.Thread(target=f, args=(20000,)) for _ in range(4)]\n[t.start() for t in ts]; [t.join() for "
    "t in ts]; print(f(1000))"], "preloaded into python3", quick=True)

BY_NAME = {r.name: r for r in ROWS}
assert len(BY_NAME) == len(ROWS), "two rows of one name"
