"""table.py - the bugs whose causes are ranked: a row each.

SPDX-License-Identifier: MIT

A bug is a program of this folder, NAME.c or NAME.cc, whose guilty lines are marked /* ROOT CAUSE */: those that the fix changes.
Several are marked if the cause is a pair. Where the fix adds something that was forgotten, the marks are on the line beside it and
on the line that made what was left over; where a line has no code of its own, on the line that uses it, too. A bug ends
as `end` says: by a signal of its own, or, if it hangs, by SIGTERM from outside. With -DFIXED it is the correct twin, which ends
by itself. `levels`: where the bug exists. `origin` names the public bug that it was written down after, `fix` the commit that
fixed it there. `far`: at least 1,000 instructions and three functions lie between cause and symptom. The half of a bug was
decided by its name before anybody ranked: weights are tuned on one half, results are reported for the other.
"""
import collections
import zlib

Bug = collections.namedtuple("Bug", "name kind end origin fix levels far")
BOTH, OPTIMIZED = ("-O0", "-O2"), ("-O2",)


def bug(name, kind, end, origin=None, fix=None, levels=BOTH, far=False):
    return Bug(name, kind, end, origin, fix, levels, far)


def half(name):
    return "tuned" if zlib.crc32(name.encode()) % 2 else "reported"


BUGS = [
    bug("apache_cache", "double free across threads", "SIGABRT", "Apache httpd bug 21287"),
    bug("apache_log", "lost update", "SIGABRT", "Apache httpd bug 25520", far=True),
    bug("apple_gotofail", "error code ignored", "SIGABRT", "SecureTransport CVE-2014-1266"),
    bug("bc_arrays", "heap overflow into a neighbour", "SIGABRT", "GNU bc 1.06, more_arrays()", far=True),
    bug("curl_socks", "state machine", "SIGSEGV", "curl CVE-2023-38545", "fb4415d8aee6c1045be932a34fe6107c2f5ed147"),
    bug("early_publish", "publication before initialisation", "SIGSEGV"),
    bug("ended_owner", "ended owner", "SIGTERM"),
    bug("forgotten_unlock", "forgotten unlock", "SIGTERM"),
    bug("glibc_hostname", "heap overflow into a neighbour", "SIGABRT",
        "glibc CVE-2015-0235", "d5dd6189d506068ed11c8bfa1e1e9bffde04decd", far=True),
    bug("hawknl_close", "ABBA", "SIGTERM", "HawkNL 1.6b3, nlClose() and nlShutdown()"),
    bug("header_sum", "only at -O2", "SIGABRT", levels=OPTIMIZED),
    bug("image_size", "integer overflow", "SIGSEGV"),
    bug("jdk_search", "integer overflow", "SIGSEGV", "JDK bug 5045582"),
    bug("jq_token", "off by one", "SIGABRT", "jq CVE-2015-8863", "8eb1367ca44e772963e704a700ef72ae2e12babd", far=True),
    bug("leap_array", "stack array overflow", "SIGSEGV", far=True),
    bug("lexer_state", "state machine", "SIGABRT"),
    bug("libpng_rows", "integer overflow", "SIGFPE", "libpng CVE-2018-13785", "8a05766cb74af05c04c53e6c9d60c13fc4d59bf2"),
    bug("linux_pipe", "stale struct", "SIGABRT", "Linux CVE-2022-0847", "9d2231c5d74e13b2a0546fee6737ee4446017903", far=True),
    bug("lost_wakeup", "lost wake-up", "SIGTERM"),
    bug("map_erase", "container invalidation", "SIGSEGV"),
    bug("memcached_incr", "lost update", "SIGABRT", "memcached issue 127"),
    bug("missed_signal", "missed signal", "SIGTERM"),
    bug("mysql_binlog", "stale flag", "SIGABRT", "MySQL bug 791", far=True),
    bug("mysql_procinfo", "stale check", "SIGSEGV", "MySQL bug 3596"),
    bug("openssh_kex", "double free", "SIGABRT", "OpenSSH CVE-2023-25136", "486c4dc3b83b4b67d663fb0fa62bc24138ec3946", far=True),
    bug("openssl_heartbeat", "unchecked length", "SIGABRT", "OpenSSL CVE-2014-0160", "96db9023b881d7cd9f379b0c154650d6c108e9a3"),
    bug("openssl_square", "wrong digit in a long computation", "SIGABRT",
        "OpenSSL CVE-2014-3570", "a7a44ba55cb4f884c6bc9ceac90072dea38e66d0"),
    bug("overflow_check", "only at -O2", "SIGSEGV", levels=OPTIMIZED),
    bug("path_cache", "cache not invalidated", "SIGABRT", far=True),
    bug("pbzip2_queue", "use after free across threads", "SIGSEGV", "pbzip2 0.9.4", far=True),
    bug("polkit_argv", "off by one", "SIGABRT", "polkit CVE-2021-4034", "a2bf5c9c83b6ae46cbd5c779d3055bff81ded683", far=True),
    bug("pppd_eap", "stack array overflow", "SIGSEGV", "pppd CVE-2020-8597", "8d7970b8f3db727fe798b65f3377fe6787575426"),
    bug("quant_table", "wrong constant far away", "SIGABRT", far=True),
    bug("session_timeout", "use after free", "SIGABRT", far=True),
    bug("short_read", "error code ignored", "SIGABRT"),
    bug("stale_config", "stale struct", "SIGABRT", far=True),
    bug("stop_flag", "stale flag", "SIGTERM"),
    bug("sudo_args", "heap overflow into a neighbour", "SIGSEGV", "sudo CVE-2021-3156", "1f8638577d0c80a4ff864a2aad80a0d95488e9a8"),
    bug("thread_index", "wrong callback argument", "SIGABRT", far=True),
    bug("timer_context", "dangling pointer to stack", "SIGSEGV", far=True),
    bug("transmission_start", "publication before initialisation", "SIGABRT", "Transmission 1.42", far=True),
    bug("unset_limit", "uninitialised local", "SIGABRT", far=True),
    bug("unset_node", "uninitialised heap", "SIGSEGV"),
    bug("vector_growth", "container invalidation", "SIGABRT", far=True),
    bug("wrong_context", "wrong callback argument", "SIGSEGV", far=True),
    bug("wrong_unit", "wrong constant far away", "SIGABRT"),
    bug("zlib_extra", "heap overflow into a neighbour", "SIGABRT", "zlib CVE-2022-37434", "eff308af425b67093bab25f80f1ae950166bece1"),
    bug("zune_days", "endless loop", "SIGABRT", "Zune 30, 31 December 2008"),
    bug("curl_tftp", "heap overflow into a neighbour", "SIGABRT", "curl CVE-2019-5482", "facb0e4662415b5f28163e853dc6742ac5fafb3d"),
    bug("ledger_check", "stale check", "SIGABRT"),
    bug("linux_dccp", "use after free", "SIGABRT", "Linux CVE-2017-6074", "5edabca9d4cff7f1f2b68f0bac55ef99d9798ba4"),
    bug("linux_fsparam", "integer overflow", "SIGABRT", "Linux CVE-2022-0185", "722d94847de29310e8aa03fcbdb41fc92c521756"),
    bug("openssl_sigalgs", "stale struct", "SIGSEGV", "OpenSSL CVE-2021-3449", "fb9fa6b51defd48157eeb207f52181f735d96148"),
    bug("openssl_sqrt", "endless loop", "SIGABRT", "OpenSSL CVE-2022-0778", "3118eb64934499d93db3230748a452351d1d9a65"),
    bug("ring_wrap", "off by one", "SIGABRT"),
    bug("signed_table", "wrong index", "SIGABRT"),
    bug("unsaved_change", "cache not invalidated", "SIGABRT"),
    bug("zlib_fixed", "overlaid buffers", "SIGABRT", "zlib CVE-2018-25032", "5c44459c3b28a9bd3283aaceab7c615f8020c531"),
    bug("fall_through", "missing break", "SIGABRT"),
    bug("flag_precedence", "operator precedence", "SIGABRT"),
    bug("half_change", "exception leaves an object half changed", "SIGABRT"),
    bug("narrow_count", "type too narrow", "SIGSEGV"),
    bug("nesting_depth", "counter not restored", "SIGABRT"),
    bug("pointer_size", "size of a pointer", "SIGABRT"),
    bug("probe_chain", "broken invariant", "SIGABRT"),
    bug("sort_order", "wrong comparison", "SIGSEGV"),
    bug("static_name", "static buffer reused", "SIGABRT"),
    bug("wait_once", "condition looked at once", "SIGABRT"),
    bug("dangling_view", "use after free", "SIGABRT"),
    bug("nginx_range", "integer overflow", "SIGABRT", "nginx CVE-2017-7529"),
    bug("patriot_clock", "wrong digit in a long computation", "SIGABRT", "Patriot, 25 February 1991"),
    bug("snapshot_reset", "lost update", "SIGABRT"),
    bug("tar_shrink", "endless loop", "SIGABRT", "GNU tar CVE-2018-20482"),
    bug("therac_setup", "type too narrow", "SIGABRT", "Therac-25, 1987"),
    bug("wiped_secret", "only at -O2", "SIGABRT", levels=OPTIMIZED),
    bug("wrong_waiter", "lost wake-up", "SIGTERM"),
]
