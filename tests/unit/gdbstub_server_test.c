/* gdbstub_server_test.c - packets and what they do to a program.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/gdbstub_support.h"

static void says_what_it_supports(void **state)
{
    (void)state;
    const char *reply = ask("qSupported:multiprocess+");
    assert_contains(reply, "PacketSize=20000;");
    assert_contains(reply, "ReverseStep+;ReverseContinue+");
    assert_contains(reply, "qXfer:siginfo:write+");
    assert_string_equal(ask("vCont?"), "vCont;c;C;s;S;t;r");
    assert_string_equal(ask("qAttached:4d2"), "1");
    assert_string_equal(ask("!"), "OK");
    assert_string_equal(ask("QStartNoAckMode"), "OK");
}

static void answers_the_unknown_with_nothing(void **state)
{
    static const char *const unknown[] = {
        "",         "vMustReplyEmpty", "qTStatus", "y",
        "QNonStop", "vContx",          "gg",       "qCx",
        "vFile:",   "vFile:mount:00",  "qXfer:",   "qXfer:spu:read::0,1",
        "Z9,1,1",   "z5,1,1",          "Hx1"};
    (void)state;
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        assert_string_equal(ask_bytes(unknown[i], strlen(unknown[i])), "");
}

static void refuses_malformed_arguments(void **state)
{
    static const char *const bad[] = {
        "m",
        "m10",
        "mx,1",
        "m1,10000000000000000",
        "m1,1x",
        "M1,2:00",
        "M1,1:0",
        "X1,5:abc",
        "Hgp",
        "Hgq",
        "Hg99",
        "Hcp4d2.",
        "Hgp1.1",
        "p94",
        "p",
        "pffffffff",
        "P0",
        "P0=00",
        "G00",
        "Z0",
        "Z0,1",
        "Z0,1,1;",
        "Z0,1,1;X",
        "Z0,1,1;X5,00",
        "Z0,1,1;Y0",
        "T",
        "T99",
        "vCont;",
        "vCont;x",
        "vCont;C",
        "vCont;r1",
        "vCont;s:x",
        "c401000",
        "C",
        "S",
        "vCont;c:p9.1",
        "QCatchSyscalls:2",
        "qGetTLSAddr:1",
        "qSymbol:zz",
        "qThreadExtraInfo,77",
        "qXfer:siginfo:write::100:x",
        "qXfer:threads:read::0",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *reply = ask("%s", bad[i]);
        if (strcmp(reply, "E01") != 0)
            print_error("%s: %s\n", bad[i], reply);
        assert_string_equal(reply, "E01");
    }
    assert_int_equal(fake.step, 0);
}

static void tells_where_it_is(void **state)
{
    (void)state;
    assert_string_equal(ask("?"), "T05thread:p4d2.1;06:0500000000000000;07:00fffe7f00000000;"
                                  "10:0010400000000000;");
    assert_string_equal(ask("qC"), "QCp4d2.1");
}

static void ids_without_processes_for_clients_that_know_none(void **state)
{
    (void)state;
    server_begin_session(server);
    ask("qSupported:xmlRegisters=i386");
    assert_contains(ask("?"), "T05thread:1;");
    assert_string_equal(ask("qfThreadInfo"), "m1,2");
    assert_string_equal(ask("Hg2"), "OK");
    assert_string_equal(ask("qC"), "QC2");
}

static void says_that_a_client_is_of_another_architecture(void **state)
{
    (void)state;
    said[0] = 0;
    assert_contains(ask("qSupported:swbreak+;xmlRegisters=arm,i386,mips"), "PacketSize");
    assert_string_equal(said, "");
    assert_contains(ask("qSupported:swbreak+;xmlRegisters=arm,i3867"), "PacketSize");
    assert_contains(said, "knows no x86-64 programs");
}

static void lists_threads(void **state)
{
    (void)state;
    assert_string_equal(ask("qfThreadInfo"), "mp4d2.1,p4d2.2");
    assert_string_equal(ask("qsThreadInfo"), "l");
    assert_string_equal(ask("Tp4d2.2"), "OK");
    assert_string_equal(ask("Tp4d2.3"), "E01");
    assert_string_equal(ask("qThreadExtraInfo,p4d2.1"), "6d61696e2c2074696420313031");
    const char *xml = ask("qXfer:threads:read::0,1000");
    assert_int_equal(xml[0], 'l');
    assert_contains(xml, "<thread id=\"p4d2.1\" name=\"main\">tid 101</thread>");
    assert_contains(xml, "name=\"a&}\003"
                         "60;b&}\003"
                         "38;&}\003"
                         "34;c&}\003"
                         "34;\">tid 102");
}

static void reads_registers_of_the_selected_thread(void **state)
{
    (void)state;
    ask("vCont;s:p4d2.1");
    assert_int_equal(general(REG_RAX), 1);
    assert_int_equal(general(REG_RIP), FAKE_CODE + 4);
    assert_int_equal(strlen(ask("g")), 2 * (17 * 8 + 7 * 4 + 8 * 10 + 8 * 4 + 16 * 16 + 4 + 3 * 8));
    assert_int_equal(general(REG_ORIG_RAX), UINT64_MAX);
    assert_string_equal(ask("Hgp4d2.3"), "E01");
    assert_string_equal(ask("Hgp4d2.2"), "OK");
    assert_contains(ask("g"), "0100000000000000");
}

static void reads_memory_as_far_as_it_goes(void **state)
{
    (void)state;
    assert_string_equal(ask("m401000,4"), "00010203");
    assert_string_equal(ask("m401ffe,10"), "feff");
    assert_string_equal(ask("m0,8"), "E01");
    assert_string_equal(ask("mffffffffffffffff,8"), "E01");
    assert_string_equal(ask("m401000,0"), "");
    assert_int_equal(strlen(ask("m7ffe0000,ffffffff")), 2 * FAKE_PAGES_BYTES * 16);
}

static void reads_documents_in_pieces(void **state)
{
    char all[20000] = "";
    size_t n = 0;

    (void)state;
    for (;;) {
        const char *piece = ask("qXfer:features:read:target.xml:%zx,100", n);
        assert_true(piece[0] == 'm' || piece[0] == 'l');
        memcpy(all + n, piece + 1, server->reply.bytes); /* has nothing to unescape */
        n += server->reply.bytes - 1;
        if (piece[0] == 'l')
            break;
    }
    assert_contains(all, "<architecture>i386:x86-64</architecture>");
    assert_contains(all, "</target>\n");
    assert_null(strstr(all, "avx"));
    assert_string_equal(ask("qXfer:features:read:other.xml:0,100"), "E00");
    assert_string_equal(ask("qXfer:exec-file:read:4d2:0,100"), "l/bin/first");
    assert_string_equal(ask("qXfer:exec-file:read:4d2:100,100"), "l");
    ask("qXfer:auxv:read::0,100");
    assert_int_equal(server->reply.bytes, 1 + 32);
}

/* ---- running ---- */

static void stops_say_why(void **state)
{
    (void)state;
    ask("Z0,401010,1");
    assert_contains(ask("vCont;c:p4d2.-1"), "T05swbreak:;thread:p4d2.1;");
    assert_int_equal(fake.step, 4);
    ask("z0,401010,1");
    ask("Z1,401014,1");
    assert_contains(ask("vCont;c"), "T05hwbreak:;thread:");
    ask("z1,401014,1");
    ask("Z3,601000,8");
    assert_contains(ask("c"), "T05rwatch:601000;thread:");
    ask("z3,601000,8");
    ask("Z4,601000,8");
    assert_contains(ask("bc"), "T05replaylog:begin;thread:p4d2.1;");
    assert_contains(ask("vCont;c"), "T05awatch:601000;");
    ask("z4,601000,8");
    ask("QCatchSyscalls:1;1;2");
    assert_contains(ask("vCont;c"), "T05syscall_entry:1;thread:");
    assert_int_equal(general(REG_ORIG_RAX), 1);
    ask("QCatchSyscalls:0");
    assert_contains(ask("vCont;c"), "T0bthread:");
    assert_contains(ask("vCont;C0b"), "T05exec:2f62696e2f7365636f6e64;thread:");
    assert_contains(ask("vCont;c"), "T05replaylog:end;");
    assert_contains(ask("bs"), "T05thread:");
}

static void a_step_is_of_the_thread_that_is_named(void **state)
{
    (void)state;
    assert_contains(ask("vCont;s:p4d2.2;c:p4d2.-1"), "T05thread:");
    assert_int_equal(fake.stepped_thread, 2);
    ask("vCont;c:p4d2.1;r401000,401020:p4d2.1");
    assert_int_equal(fake.stepped_thread, 1);
    assert_int_equal(fake.low, 0x401000);
    assert_int_equal(fake.high, 0x401020);
    ask("Hgp4d2.2");
    ask("s");
    assert_int_equal(fake.stepped_thread, 2);
    ask("Hgp4d2.1");
    ask("Hcp4d2.2");
    ask("bs");
    assert_int_equal(fake.stepped_thread, 2);
    ask("Hcp4d2.-1");
    ask("Hgp4d2.1");
    ask("bs");
    assert_int_equal(fake.stepped_thread, 1);
    ask("Tp4d2.2"); /* GDB's `thread 2` may ask no more than this */
    ask("bs");
    assert_int_equal(fake.stepped_thread, 2);
    assert_string_equal(query("thread 2"), "{}");
    ask("bs");
    assert_int_equal(fake.stepped_thread, 2);
    assert_contains(query("thread 3"), "no such thread");
    ask("vCont;S05:p4d2.2;c");
    assert_int_equal(fake.stepped_thread, 2);
}

static void a_thread_that_alone_may_run_is_the_one_told_of(void **state)
{
    (void)state;
    ask("Z0,401010,1");
    assert_contains(ask("vCont;c:p4d2.2"), "thread:p4d2.2;");
    assert_int_equal(fake.stops.only, 2);
    assert_contains(ask("vCont;s:p4d2.2;c:p4d2.-1"), "thread:p4d2.1;");
    assert_int_equal(fake.stops.only, 0);
    ask("Hcp4d2.2");
    assert_contains(ask("bc"), "thread:p4d2.2;");
    assert_int_equal(fake.stops.only, 2);
    ask("Hcp4d2.0");
    assert_contains(ask("vCont;c"), "T05swbreak:;thread:p4d2.1;"); /* it was not stepped off it */
    ask("bs");
    assert_contains(ask("vCont;c"), "T05swbreak:;thread:p4d2.1;");
    assert_int_equal(fake.stops.only, 0);
    ask("z0,401010,1"); /* to step off it: others' stops count */
    ask("vCont;s:p4d2.1");
    assert_int_equal(fake.stops.only, 0);
    ask("vCont;s:p4d2.1");
    assert_int_equal(fake.stops.only, 1);
}

static void an_end_is_not_told_in_a_step_of_one_thread(void **state)
{
    (void)state;
    query("goto end");
    ask("vCont;c");
    ask("vCont;c");
    shown();
    assert_contains(ask("vCont;s:p4d2.1;c"), "replaylog:end");
    assert_contains(ask("vCont;s:p4d2.1"), "T00thread:");
    assert_contains(shown(), "No more reverse-execution history.");
}

static void breakpoints_are_given_when_something_runs(void **state)
{
    (void)state;
    ask("Z0,401020,1");
    ask("Z0,401010,1");
    ask("Z0,401010,1");
    ask("Z1,401010,1");
    assert_int_equal(fake.stops_given, 0);
    ask("vCont;s");
    assert_int_equal(fake.stops_given, 1);
    assert_int_equal(fake.stops.break_count, 2);
    assert_int_equal(fake.pcs[0], 0x401010);
    for (int i = 0; i < 3; i++) { /* as GDB does around every stop */
        ask("z0,401010,1");
        ask("z1,401010,1");
        ask("z0,401020,1");
        ask("Z0,401020,1");
        ask("Z0,401010,1");
        ask("Z1,401010,1");
        ask("vCont;s");
    }
    assert_int_equal(fake.stops_given, 1);
    ask("z1,401010,1");
    ask("z1,401010,1");
    ask("vCont;s");
    assert_int_equal(fake.stops_given, 1); /* still one of them is there */
    ask("z0,401010,1");
    ask("vCont;s");
    assert_int_equal(fake.stops_given, 2);
    assert_int_equal(fake.stops.break_count, 1);
}

static void conditions_are_passed_on(void **state)
{
    (void)state;
    assert_string_equal(ask("Z0,401010,1;X3,260127X2,2201"), "OK");
    ask("Z0,401020,1");
    ask("vCont;s");
    assert_int_equal(fake.condition_bytes[0], 4 + 3 + 4 + 2);
    assert_int_equal(fake.condition_bytes[1], 0);
    ask("Z1,401010,1;X1,27"); /* either of them */
    ask("vCont;s");
    assert_int_equal(fake.condition_bytes[0], 4 + 3 + 4 + 2 + 4 + 1);
    ask("Z0,401010,1"); /* without: always */
    ask("vCont;s");
    assert_int_equal(fake.condition_bytes[0], 0);
}

static void watchpoints_have_limits(void **state)
{
    (void)state;
    assert_string_equal(ask("Z2,601000,0"), "E.1 to 4096 bytes can be watched");
    assert_string_equal(ask("Z2,601000,1001"), "E.1 to 4096 bytes can be watched");
    for (unsigned i = 0; i < STOP_MAX_WATCHES; i++)
        assert_string_equal(ask("Z2,%x,8", 0x601100 + 8 * i), "OK");
    assert_string_equal(ask("Z2,602000,8"), "E.there are 16 watchpoints already");
    assert_string_equal(ask("Z2,601100,8"), "OK"); /* is one of them */
    ask("vCont;s");
    assert_int_equal(fake.stops.watch_count, STOP_MAX_WATCHES);
    for (unsigned i = 0; i < 10000; i++)
        assert_string_equal(ask("Z0,%x,1", 0x401000 + i), "OK");
    assert_contains(ask("Z0,ffffff,1"), "E.there are 10000 breakpoints");
    assert_string_equal(ask("Z0,0,1"), "E.nothing can be executed at 0x0");
    assert_contains(ask("QCatchSyscalls:1;1;75bcd15"), "E.there is no system call 123456789");
}

static void signals_that_are_passed_do_not_stop(void **state)
{
    (void)state;
    ask("vCont;s");
    assert_true(fake.stops.signal_wanted[11] && fake.stops.signal_wanted[34]);
    assert_string_equal(ask("QPassSignals:b;e;2e"), "OK");
    ask("vCont;s");
    assert_true(fake.stops.signal_wanted[11]); /* a step is to go over the handler */
    assert_contains(ask("vCont;c"), "T05exec:");
    assert_false(fake.stops.signal_wanted[11]);
    assert_false(fake.stops.signal_wanted[34]);
    assert_true(fake.stops.signal_wanted[10]);
}

static void output_is_shown_while_it_runs(void **state)
{
    (void)state;
    ask("vCont;c");
    assert_string_equal(shown(), "hello\n");
    ask("bc");
    ask("vCont;c");
    assert_string_equal(shown(), "");
}

static void an_interrupt_stops(void **state)
{
    (void)state;
    fake.interrupt = true;
    client_sends("++\003");
    assert_contains(ask("vCont;c"), "T02thread:");
    client_sends("$?#3f"); /* waits */
    assert_contains(ask("vCont;c"), "T0bthread:");
}

static void divergence_is_told_and_it_stays(void **state)
{
    (void)state;
    fake.diverge = true;
    assert_contains(ask("vCont;s"), "T00thread:");
    assert_string_equal(shown(), "drdebug: T1:1:401000: rax is 1, not 2\n");
}

static void a_program_that_was_passed_by_is_announced_first(void **state)
{
    (void)state;
    ask("Z0,401010,1");
    assert_string_equal(query("goto end"), "{\"direction\":\"forward\"}");
    assert_contains(ask("vCont;c"), "T05exec:2f62696e2f7365636f6e64;");
    assert_int_equal(fake.step, FAKE_STEPS);
    assert_contains(ask("vCont;c"), "T00thread:"); /* GDB resumes by itself */
    assert_int_equal(fake.step, FAKE_STEPS);
    ask("vCont;s");
    assert_int_equal(fake.stops.break_count, 0); /* went with the old program */
    /* By vRun: at the next resume, for GDB waits for none. */
    assert_contains(ask("vRun;2f62696e2f66697273740a"), "T05thread:");
    assert_contains(ask("vCont;c"), "T05exec:2f62696e2f6669727374;");
    assert_int_equal(fake.step, 0);
    assert_contains(ask("vCont;s"), "T05thread:");
    assert_int_equal(fake.step, 1);
}

static void run_begins_anew(void **state)
{
    (void)state;
    ask("!");
    ask("Z0,401010,1");
    ask("vCont;c");
    assert_string_equal(ask("vKill;4d2"), "OK");
    assert_string_equal(ask("?"), "W00");
    assert_string_equal(ask("qfThreadInfo"), "l");
    assert_string_equal(ask("g"), "E01");
    assert_string_equal(ask("vCont;c"), "E01");
    assert_contains(ask("vRun;"), "T05thread:p4d2.1;");
    assert_int_equal(fake.step, 0);
    ask("vCont;s");
    assert_int_equal(fake.stops.break_count, 0);
    assert_string_equal(ask("D;4d2"), "OK");
    assert_int_equal(fake.step, 1);
}

/* ---- files ---- */

static const char *open_path(const char *path)
{
    struct reply hex = {0};
    static char reply[64];

    reply_hex(&hex, path, strlen(path));
    snprintf(reply, sizeof reply, "%s", ask("vFile:open:%s,0,0", hex.data));
    reply_deinit(&hex);
    return reply;
}

static void serves_kept_files(void **state)
{
    (void)state;
    assert_string_equal(ask("vFile:setfs:0"), "F0");
    assert_string_equal(open_path("/usr/lib/libc.so.6"), "F0");
    const char *reply = ask("vFile:pread:0,100,0");
    assert_string_equal(reply, "F1a;}\003 a }] library }\004 with }\n all");
    assert_string_equal(ask("vFile:pread:0,2,4"), "F2;}] ");
    assert_string_equal(ask("vFile:pread:0,2,ffffffffffffffff"), "F0;");
    ask("vFile:fstat:0");
    assert_int_equal(server->reply.bytes, 4 + 65); /* the mode has a `$` to escape */
    assert_int_equal(server->reply.data[4 + 36], 26);
    assert_string_equal(ask("vFile:close:0"), "F0");
    assert_string_equal(ask("vFile:close:0"), "F-1,9");
    assert_string_equal(ask("vFile:pread:7,1,1"), "F-1,9");
    assert_string_equal(ask("vFile:open:2f,1,0"), "F-1,1e");
    assert_string_equal(ask("vFile:open:2,0,0"), "F-1,16");
    assert_string_equal(ask("vFile:unlink:2f"), "F-1,1e");
}

static void finds_files_behind_links(void **state)
{
    (void)state;
    assert_string_equal(open_path("/lib/libc.so.6"), "F0");
    assert_string_equal(open_path("/lib/x86_64-linux-gnu/libc.so.6"), "F1");
    assert_string_equal(open_path("/lib/libz.so.1"), "F2");
    assert_string_equal(open_path("/usr/bin/first"), "F3");
    assert_string_equal(open_path("/lib/libz.so.2"), "F-1,2");
    assert_string_equal(open_path("/usr/lib/debug/lib/libc.so.6"), "F-1,2");
    assert_string_equal(open_path("/etc/passwd"), "F-1,2");
    assert_string_equal(open_path("/"), "F-1,2");
    assert_string_equal(open_path(""), "F-1,2");
}

static void makes_up_files_of_proc(void **state)
{
    (void)state;
    assert_string_equal(open_path("/proc/1234/maps"), "F0");
    const char *maps = ask("vFile:pread:0,1000,0");
    assert_contains(maps, ";00401000-00402000 r-xp 00001000 08:01 1");
    assert_contains(maps, " /bin/first\n");
    assert_contains(maps, "7ffe0000-7fff0000 rw-p 00000000 00:00 0");
    assert_contains(maps, "[stack]\n");
    assert_string_equal(open_path("/proc/1234/task/1234/maps"), "F1");
    assert_string_equal(open_path("/proc/1234/status"), "F2");
    assert_contains(ask("vFile:pread:2,1000,0"), "Name:\tfirst\nState:\tt");
    assert_string_equal(open_path("/proc/1234/cmdline"), "F3");
    assert_string_equal(open_path("/proc/1234/stat"), "F4");
    assert_contains(ask("vFile:pread:4,1000,0"), ";1234 (first) t 0 0");
    assert_string_equal(open_path("/proc/1234/smaps"), "F-1,2");
    assert_string_equal(open_path("/proc/1/maps"), "F-1,2");
    assert_string_equal(ask("vFile:readlink:2f70726f632f313233342f657865"), "Fa;/bin/first");
    assert_string_equal(ask("vFile:readlink:2f70726f63"), "F-1,2");
}

static void has_a_limit_of_open_files(void **state)
{
    (void)state;
    for (int i = 0; i < FILES_MAX; i++)
        assert_int_equal(open_path("/proc/1234/maps")[1] == '-', 0);
    assert_string_equal(open_path("/bin/first"), "F-1,18");
}

/* ---- thread-local variables ---- */

static void asks_for_symbols_and_finds_variables(void **state)
{
    char name[200];

    (void)state;
    snprintf(name, sizeof name, "%s", ask("qSymbol::"));
    for (unsigned i = 0; i < 5; i++) {
        assert_memory_equal(name, "qSymbol:5f7468726561645f64625f", 30);
        snprintf(name, sizeof name, "%s",
                 ask("qSymbol:%x:%s", FAKE_DESCRIPTORS + 16 * i, name + strlen("qSymbol:")));
    }
    assert_string_equal(name, "OK");
    assert_string_equal(ask("qSymbol::"), "OK");
    assert_string_equal(ask("qGetTLSAddr:p4d2.1,10,%x", FAKE_LINK_MAP), "602410");
    assert_string_equal(ask("qGetTLSAddr:p4d2.2,0,0"), "602400"); /* a static program's */
}

static void finds_variables_that_no_thread_has_used(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 5; i++)
        server->tls_symbol[i] = FAKE_DESCRIPTORS + 16 * i;
    server->tls_symbol[0] += 2; /* reads another field: module 0 */
    assert_contains(ask("qGetTLSAddr:1,0,%x", FAKE_LINK_MAP), "E.");
    memset(server->tls_symbol, 0, sizeof server->tls_symbol);
    assert_contains(ask("qGetTLSAddr:1,0,%x", FAKE_LINK_MAP), "E.where its C library");
    fake.no_tls = true;
    ask("vCont;s");
    assert_string_equal(ask("qGetTLSAddr:1,0,0"), "E.the thread has no thread-local variables yet");
}

/* ---- a client's bytes ---- */

#define SERVE(bytes) serve(bytes, sizeof bytes - 1)

static void acknowledges_until_it_is_told_not_to(void **state)
{
    (void)state;
    assert_string_equal(SERVE("+$qC#b4+$qC#00$QStartNoAckMode#b0+$qC#b4$qC#00"),
                        "+$QC1#c5-+$OK#9a$QC1#c5$QC1#c5");
}

static void sends_again_what_was_not_received(void **state)
{
    (void)state;
    assert_string_equal(SERVE("-$qC#b4-+"), "+$QC1#c5$QC1#c5");
}

static void ignores_interrupts_while_nothing_runs(void **state)
{
    (void)state;
    assert_string_equal(SERVE("\003\003$qC#b4"), "+$QC1#c5");
}

static void survives_a_client_that_leaves_in_a_packet(void **state)
{
    (void)state;
    assert_string_equal(SERVE("$qSuppor"), "");
}

static void refuses_packets_that_are_too_long(void **state)
{
    static char packet[PACKET_ROOM + 100];

    (void)state;
    memset(packet, 'x', sizeof packet);
    packet[0] = '$';
    memcpy(packet + sizeof packet - 9, "#zz$qC#b4", 9);
    unsigned sum = 0;
    for (size_t i = 1; i < sizeof packet - 9; i++)
        sum += 'x';
    packet[sizeof packet - 8] = "0123456789abcdef"[sum >> 4 & 15];
    packet[sizeof packet - 7] = "0123456789abcdef"[sum & 15];
    assert_string_equal(serve(packet, sizeof packet), "+$E01#a6+$QC1#c5");
}

static void killing_ends_a_session_that_is_not_extended(void **state)
{
    (void)state;
    assert_string_equal(SERVE("$k#6b$qC#b4"), "+");
}

static void the_next_client_finds_it_where_it_was(void **state)
{
    (void)state;
    ask("vCont;s");
    ask("Z0,401010,1");
    ask("QPassSignals:b");
    server_begin_session(server);
    assert_contains(ask("?"), "T05thread:1;");
    assert_int_equal(fake.step, 1);
    ask("vCont;s");
    assert_int_equal(fake.stops.break_count, 0);
    assert_true(fake.stops.signal_wanted[11]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_start, support_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(says_what_it_supports),
        TEST(answers_the_unknown_with_nothing),
        TEST(refuses_malformed_arguments),
        TEST(tells_where_it_is),
        TEST(ids_without_processes_for_clients_that_know_none),
        TEST(says_that_a_client_is_of_another_architecture),
        TEST(lists_threads),
        TEST(reads_registers_of_the_selected_thread),
        TEST(reads_memory_as_far_as_it_goes),
        TEST(reads_documents_in_pieces),
        TEST(stops_say_why),
        TEST(a_step_is_of_the_thread_that_is_named),
        TEST(a_thread_that_alone_may_run_is_the_one_told_of),
        TEST(an_end_is_not_told_in_a_step_of_one_thread),
        TEST(breakpoints_are_given_when_something_runs),
        TEST(conditions_are_passed_on),
        TEST(watchpoints_have_limits),
        TEST(signals_that_are_passed_do_not_stop),
        TEST(output_is_shown_while_it_runs),
        TEST(an_interrupt_stops),
        TEST(divergence_is_told_and_it_stays),
        TEST(a_program_that_was_passed_by_is_announced_first),
        TEST(run_begins_anew),
        TEST(serves_kept_files),
        TEST(finds_files_behind_links),
        TEST(makes_up_files_of_proc),
        TEST(has_a_limit_of_open_files),
        TEST(asks_for_symbols_and_finds_variables),
        TEST(finds_variables_that_no_thread_has_used),
        TEST(acknowledges_until_it_is_told_not_to),
        TEST(sends_again_what_was_not_received),
        TEST(ignores_interrupts_while_nothing_runs),
        TEST(survives_a_client_that_leaves_in_a_packet),
        TEST(refuses_packets_that_are_too_long),
        TEST(killing_ends_a_session_that_is_not_extended),
        TEST(the_next_client_finds_it_where_it_was),
    };

    return cmocka_run_group_tests_name("gdbstub_server", tests, NULL, NULL);
}
