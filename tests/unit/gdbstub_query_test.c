/* gdbstub_query_test.c - scripts' questions, and functions that GDB calls.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/gdbstub_support.h"

static void says_when(void **state)
{
    (void)state;
    assert_string_equal(query("when"),
                        "{\"position\":\"T1:0:401000\",\"thread\":1,\"tid\":101,\"ticks\":0,"
                        "\"count\":0,\"pc\":4198400,\"events\":0,\"why\":\"position\","
                        "\"at_begin\":true,\"at_end\":false,\"diverted\":false}");
    ask("vCont;c");
    assert_contains(query("when"), "\"why\":\"signal\",\"at_begin\":false,\"at_end\":false,"
                                   "\"diverted\":false,\"signal\":11}");
    assert_contains(query("nonsense"), "{\"error\":\"unknown command\"}");
    assert_contains(query(""), "error");
}

static void goes_where_it_is_told_at_the_next_resume(void **state)
{
    char at[POSITION_TEXT], command[100];
    struct position to = fake_at(42);

    (void)state;
    position_format(&to, at);
    snprintf(command, sizeof command, "goto %s", at);
    assert_string_equal(query(command), "{\"direction\":\"forward\"}");
    assert_int_equal(fake.step, 0);
    assert_contains(ask("vCont;s:p4d2.1"), "T05thread:p4d2.1;"); /* GDB leaves a breakpoint first */
    assert_int_equal(fake.step, 1);
    assert_contains(ask("vCont;c"), "T00thread:p4d2.1;");
    assert_int_equal(fake.step, 42);
    assert_string_equal(query(command), "{\"direction\":\"here\"}");
    assert_string_equal(query("goto -2"), "{\"direction\":\"backward\"}");
    assert_contains(ask("bc"), "T00");
    assert_int_equal(fake.step, 40);
    query("goto +3");
    ask("vCont;c");
    assert_int_equal(fake.step, 43);
    query("goto -1000");
    assert_contains(ask("bc"), "T00");
    assert_int_equal(fake.step, 0);
    assert_string_equal(query("goto begin"), "{\"direction\":\"here\"}");
    ask("vCont;s");
    assert_int_equal(fake.step, 1); /* nothing was left to be done */
}

static void refuses_places_that_are_none(void **state)
{
    static const char *const bad[] = {
        "goto",        "goto x",           "goto +",
        "goto +x",     "goto T1:2",        "goto T1:9999:1",
        "goto begins", "goto T7:1:401000", "goto +18446744073709551616"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_contains(query(bad[i]), "{\"error\":\"");
    ask("vCont;s");
    assert_int_equal(fake.step, 1);
}

static void a_goto_that_fails_stays(void **state)
{
    (void)state;
    query("goto +5");
    fake.diverge = true;
    assert_contains(ask("vCont;c"), "T00thread:");
    assert_contains(shown(), "drdebug: T1:1:401000");
}

static void finds_the_last_write_and_stays(void **state)
{
    char expected[100], at[POSITION_TEXT];
    struct position write = fake_at(49);

    (void)state;
    query("goto +52");
    ask("vCont;c");
    ask("Z0,401010,1");
    position_format(&write, at);
    snprintf(expected, sizeof expected, "{\"position\":\"%s\"}", at);
    assert_string_equal(query("last 601000 8"), expected);
    assert_int_equal(fake.step, 52);
    assert_string_equal(query("last 0x601900 8"), "{\"position\":null}");
    assert_int_equal(fake.step, 52);
    assert_contains(query("last 601000"), "error");
    assert_contains(query("last 601000 0"), "error");
    assert_contains(query("last 601000 5000"), "error");
    ask("vCont;c"); /* breakpoints are there again */
    assert_int_equal(fake.stops.break_count, 1);
    assert_int_equal(fake.stops.watch_count, 0);
}

static void an_answer_that_nobody_waits_for_is_not_sent(void **state)
{
    (void)state;
    ask("vCont;c");
    fake.interrupt = true;
    client_sends("$g#67");
    ask("qDrdebug,last 601000 8");
    assert_true(server->silent);
    assert_int_equal(fake.step, FAKE_SIGNAL_STEP);
    ask("qDrdebug,when");
    assert_false(server->silent);
}

static void lists_events_in_pages(void **state)
{
    (void)state;
    assert_string_equal(query("events call 1"),
                        "{\"events\":[{\"number\":0,\"position\":\"T1:0:401000\",\"kind\":\"call\","
                        "\"about\":\"write(...) = 5\",\"call\":1,\"result\":5}],\"next\":1}");
    assert_contains(query("events signal 1 from 3"), "{\"number\":5,");
    assert_contains(query("events signal 1 from 3"), "\"signal\":11}],\"next\":6}");
    assert_contains(query("events write from 9"), "\"number\":9");
    assert_string_equal(query("events open"), "{\"events\":[],\"next\":null}");
    assert_string_equal(query("events from 99999"), "{\"events\":[],\"next\":null}");
    assert_contains(query("events from"), "error");
    assert_contains(query("events from x"), "error");
}

static struct debuggee_event output(unsigned step, int fd, const char *text)
{
    return (struct debuggee_event){.kind = EVENT_OUTPUT,
                                   .at = fake_at(step),
                                   .call = fd,
                                   .text = (const uint8_t *)text,
                                   .text_bytes = strlen(text)};
}

static void puts_lines_of_output_together(void **state)
{
    const struct debuggee_event events[] = {
        output(1, 1, "one\ntwo\nth"),
        output(2, 2, "err"),
        {.kind = EVENT_CALL, .at = fake_at(3)},
        output(4, 1, "ree\n"),
        output(5, 2, "or\n\n"),
        output(6, 1, "rest"),
    };
    static const char *const lines[] = {
        "{\"position\":\"T1:0:401004\",\"fd\":1,\"text\":\"one\"}",
        "{\"position\":\"T1:0:401004\",\"fd\":1,\"text\":\"two\"}",
        "{\"position\":\"T1:0:401004\",\"fd\":1,\"text\":\"three\"}",
        "{\"position\":\"T1:0:401008\",\"fd\":2,\"text\":\"error\"}",
        "{\"position\":\"T1:0:401014\",\"fd\":2,\"text\":\"\"}",
        "{\"position\":\"T1:0:401018\",\"fd\":1,\"text\":\"rest\"}",
    };
    char command[50];

    (void)state;
    fake.event = events;
    fake.events = sizeof events / sizeof events[0];
    const char *all = query("output");
    for (int i = 0; i < 6; i++)
        assert_contains(all, lines[i]);
    assert_contains(all, "],\"next\":null}");
    for (int i = 0; i < 6; i++) { /* the next page, then any page */
        snprintf(command, sizeof command, "output 1 from %d", i);
        assert_contains(query(command), lines[i]);
    }
    assert_contains(query("output 1 from 2"), lines[2]);
    assert_contains(query("output 1 from 2"), "\"next\":3}");
}

static void cuts_lines_that_are_too_long(void **state)
{
    static char text[10001];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    struct debuggee_event event = output(1, 1, text);
    fake.event = &event;
    fake.events = 1;
    const char *all = query("output");
    int lines = 0;
    for (const char *p = all; (p = strstr(p, "\"position\"")); p++)
        lines++;
    assert_int_equal(lines, 3);
}

static void keeps_bookmarks(void **state)
{
    (void)state;
    assert_string_equal(query("bookmark T1:0:401004 here it is"), "{}");
    assert_string_equal(query("bookmark T2:1:401004"), "{}");
    assert_string_equal(query("bookmarks"),
                        "{\"bookmarks\":[{\"position\":\"T1:0:401004\",\"note\":\"here it is\"},"
                        "{\"position\":\"T2:1:401004\",\"note\":\"\"}]}");
    assert_contains(query("bookmark"), "error");
    assert_contains(query("bookmark x y"), "error");
}

static const char *monitor(const char *command)
{
    static char text[4096];
    struct reply hex = {0};

    reply_hex(&hex, command, strlen(command));
    const char *reply = ask("qRcmd,%s", hex.data);
    struct args args = {reply, reply + strlen(reply)};
    assert_true(args_string(&args, text, sizeof text));
    reply_deinit(&hex);
    return text;
}

static void monitor_speaks_to_people(void **state)
{
    (void)state;
    assert_string_equal(monitor("when"), "T1:0:401000  0 ticks, 0 events  (position)\n");
    assert_contains(monitor("help"), "monitor when");
    assert_contains(monitor("frob"), "unknown monitor command\n");
    assert_contains(monitor("json when"), "{\"position\":\"T1:0:401000\"");
}

/* ---- calls of functions, packet by packet as GDB 13 makes them ---- */

enum { RETURN_TO = FAKE_RSP - 0x91 };

static void save(void)
{
    assert_int_equal(ask("qXfer:siginfo:read::0,80")[0], 'l');
}

/* Comes first of all that is written. */
static void put_return(void)
{
    assert_string_equal(ask("M%x,1:cc", RETURN_TO), "OK");
}

static void set_register(int number, uint64_t value)
{
    struct reply hex = {0};

    reply_hex(&hex, &value, sizeof value);
    assert_string_equal(ask("P%x=%s", (unsigned)number, hex.data), "OK");
    reply_deinit(&hex);
}

static void push_and_jump(uint64_t function)
{
    uint64_t return_to = RETURN_TO;
    struct reply hex = {0};

    reply_hex(&hex, &return_to, sizeof return_to);
    assert_string_equal(ask("X%x,0:", FAKE_RSP - 0xa8), "OK");
    assert_string_equal(ask("M%x,8:%s", FAKE_RSP - 0xa8, hex.data), "OK");
    reply_deinit(&hex);
    set_register(REG_RSP, FAKE_RSP - 0xa8);
    set_register(REG_RBP, FAKE_RSP - 0xa8);
    set_register(REG_RIP, function);
    assert_string_equal(ask("Z0,%x,1", RETURN_TO), "OK");
}

static void restore(void)
{
    char packet[200] = "qXfer:siginfo:write::0:";

    assert_string_equal(ask("z0,%x,1", RETURN_TO), "OK");
    assert_string_equal(ask_bytes(packet, strlen(packet) + 128), "80");
    set_register(REG_RIP, fake_at(fake.step).pc);
    set_register(REG_RSP, FAKE_RSP);
    set_register(REG_RBP, 5);
    set_register(REG_RAX, fake.step);
    set_register(REG_RDI, 7);
}

static uint64_t call(uint64_t function, uint64_t a, uint64_t b)
{
    put_return();
    set_register(REG_RDI, a);
    set_register(4, b);
    push_and_jump(function);
    assert_contains(ask("vCont;c:p4d2.-1"), "T05swbreak:;thread:p4d2.1;");
    uint64_t result = general(REG_RAX);
    restore();
    set_register(4, 6);
    return result;
}

static void calls_functions_in_a_copy(void **state)
{
    (void)state;
    ask("vCont;s");
    save();
    assert_int_equal(call(FAKE_ADD, 30, 12), 42);
    assert_true(fake.exists && fake.parked);
    assert_int_equal(general(REG_RAX), 1);
    assert_int_equal(fake.step, 1);
    save();
    assert_int_equal(call(FAKE_ADD, 1, 2), 3);
    assert_int_equal(fake.diversions, 2); /* with the recording's memory */
    ask("vCont;s");
    assert_false(fake.exists);
    assert_int_equal(fake.step, 2);
}

static void string_arguments_go_to_memory_of_the_copy(void **state)
{
    (void)state;
    save(); /* of the outer call */
    save();
    assert_int_equal(call(FAKE_MALLOC, 6, 0), FAKE_BLOCK);
    assert_string_equal(ask("X%x,6:hello%c", FAKE_BLOCK, 0), "OK");
    assert_string_equal(ask("m%x,6", FAKE_BLOCK), "68656c6c6f00");
    assert_contains(ask("X%x,7:helloxy", FAKE_BLOCK), "E.a recording cannot be changed");
}

static void the_outer_call_finds_the_string(void **state)
{
    (void)state;
    save();
    save();
    call(FAKE_MALLOC, 6, 0);
    ask("X%x,6:hello%c", FAKE_BLOCK, 0);
    put_return();
    set_register(REG_RDI, FAKE_BLOCK);
    assert_true(debuggee_diverted(&server->debuggee));
    assert_string_equal(ask("m%x,5", FAKE_BLOCK), "68656c6c6f");
    assert_int_equal(general(4), 6); /* registers are the recording's, not the last call's */
    push_and_jump(FAKE_ADD);
    assert_contains(ask("vCont;c"), "T05swbreak:;");
    restore();
    assert_int_equal(fake.diversions, 1);
}

static void refuses_to_change_the_recording(void **state)
{
    static const char refusal[] =
        "E.a recording cannot be changed; functions can be called, in a throw-away copy";
    (void)state;
    assert_string_equal(ask("M601000,1:00"), refusal);
    assert_string_equal(said, refusal + 2);
    assert_string_equal(ask("P0=ff00000000000000"), refusal);
    assert_string_equal(ask("P0=0000000000000000"), "OK"); /* changes nothing */
    char all[4096];
    snprintf(all, sizeof all, "G%s", ask("g"));
    assert_string_equal(ask("%s", all), "OK");
    all[1] = 'f';
    assert_string_equal(ask("%s", all), refusal);
    save(); /* `print $_siginfo` */
    assert_string_equal(ask("M601000,1:00"), refusal);
    assert_string_equal(ask("M%x,1:00", FAKE_RSP), refusal); /* a local variable */
    assert_string_equal(ask("M%x,1:00", FAKE_RSP - 128),
                        refusal); /* ... of a function without calls */
    assert_string_equal(ask("P0=ff00000000000000"), refusal);
    assert_int_equal(general(REG_RAX), 0);
    assert_false(fake.exists);
}

static void a_function_that_crashes_leaves_the_recording(void **state)
{
    (void)state;
    save();
    push_and_jump(FAKE_CRASH);
    assert_contains(ask("vCont;c"), "T0bthread:");
    assert_contains(query("when"), "\"diverted\":true");
    assert_int_equal(general(REG_RIP), FAKE_CRASH);
    assert_contains(ask("vCont;C0b"), "T00thread:");
    assert_contains(shown(), "back in the recording");
    assert_int_equal(fake.step, 0);
    assert_int_equal(general(REG_RIP), FAKE_CODE);
}

static void a_function_that_exits_leaves_the_recording(void **state)
{
    (void)state;
    save();
    push_and_jump(FAKE_EXIT);
    assert_contains(ask("vCont;c"), "T00thread:");
    assert_contains(shown(), "ended the throw-away copy; back in the recording");
    assert_false(fake.exists);
}

static void going_back_leaves_the_copy(void **state)
{
    (void)state;
    ask("vCont;s");
    ask("vCont;s");
    save();
    push_and_jump(FAKE_ADD);
    assert_contains(ask("bs"), "T05thread:");
    assert_int_equal(fake.step, 1);
    assert_false(fake.exists);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_start, support_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(says_when),
        TEST(goes_where_it_is_told_at_the_next_resume),
        TEST(refuses_places_that_are_none),
        TEST(a_goto_that_fails_stays),
        TEST(finds_the_last_write_and_stays),
        TEST(an_answer_that_nobody_waits_for_is_not_sent),
        TEST(lists_events_in_pages),
        TEST(puts_lines_of_output_together),
        TEST(cuts_lines_that_are_too_long),
        TEST(keeps_bookmarks),
        TEST(monitor_speaks_to_people),
        TEST(calls_functions_in_a_copy),
        TEST(string_arguments_go_to_memory_of_the_copy),
        TEST(the_outer_call_finds_the_string),
        TEST(refuses_to_change_the_recording),
        TEST(a_function_that_crashes_leaves_the_recording),
        TEST(a_function_that_exits_leaves_the_recording),
        TEST(going_back_leaves_the_copy),
    };

    return cmocka_run_group_tests_name("gdbstub_query", tests, NULL, NULL);
}
