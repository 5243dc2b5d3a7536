/* gdbstub_packet_test.c - the framing of GDB's protocol; args.h and reply.h, too.
 *
 * SPDX-License-Identifier: MIT
 */
#include "debug/gdbstub/packet.h"

#include <stdlib.h>
#include <string.h>

#include "debug/gdbstub/args.h"
#include "tests/unit/unit.h"

static struct packet_reader reader;

static int start(void **state)
{
    (void)state;
    memset(&reader, 0, sizeof reader);
    packet_init(&reader);
    return 0;
}

/* Feeds a text in pieces of the given size; returns the last event that was not PACKET_NONE. */
static enum packet_event feed(const char *text, size_t bytes, size_t piece)
{
    enum packet_event last = PACKET_NONE;

    for (size_t at = 0; at < bytes;) {
        size_t n = bytes - at < piece ? bytes - at : piece, taken;
        enum packet_event event = packet_feed(&reader, text + at, n, &taken);
        assert_true(taken > 0 && taken <= n);
        at += taken;
        if (event != PACKET_NONE)
            last = event;
    }
    return last;
}

#define FEED(text, piece) feed(text, sizeof text - 1, piece)

static void takes_packets_in_pieces_of_any_size(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < 12; piece++) {
        assert_int_equal(FEED("+$m4010,8#96", piece), PACKET_DATA);
        assert_int_equal(reader.bytes, 7);
        assert_string_equal(reader.data, "m4010,8");
        assert_true(packet_outside(&reader));
    }
}

static void returns_one_event_at_a_time(void **state)
{
    static const char text[] = "+-\003$g#67";
    static const enum packet_event expected[] = {PACKET_ACK, PACKET_NACK, PACKET_INTERRUPT,
                                                 PACKET_DATA};
    size_t at = 0, taken;

    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(packet_feed(&reader, text + at, sizeof text - 1 - at, &taken),
                         expected[i]);
        at += taken;
    }
    assert_int_equal(at, sizeof text - 1);
}

static void unescapes(void **state)
{
    (void)state;
    assert_int_equal(FEED("$a}\003}\004}]b#9e", 3), PACKET_DATA);
    assert_int_equal(reader.bytes, 5);
    assert_string_equal(reader.data, "a#$}b");
}

static void keeps_bytes_that_mean_something_elsewhere(void **state)
{
    (void)state;
    assert_int_equal(FEED("$X\003+-\000z#2d", 100), PACKET_DATA);
    assert_int_equal(reader.bytes, 6);
    assert_memory_equal(reader.data, "X\003+-\000z", 6);
}

static void finds_wrong_sums(void **state)
{
    (void)state;
    assert_int_equal(FEED("$g#68", 100), PACKET_BAD);
    assert_int_equal(FEED("$g#6x", 100), PACKET_BAD);
    assert_int_equal(FEED("$g}#e4", 100), PACKET_BAD);
    assert_int_equal(FEED("$g#67", 100), PACKET_DATA);
    reader.sums_ignored = true;
    assert_int_equal(FEED("$g#68", 100), PACKET_DATA);
    assert_int_equal(FEED("$g#zz", 100), PACKET_DATA);
}

static void begins_anew_at_a_dollar(void **state)
{
    (void)state;
    assert_int_equal(FEED("$qSuppor$g#67", 100), PACKET_DATA);
    assert_string_equal(reader.data, "g");
    assert_int_equal(FEED("$qSupported#3$g#67", 100), PACKET_DATA);
    assert_string_equal(reader.data, "g");
    assert_int_equal(FEED("noise $?#3f", 100), PACKET_DATA);
}

static void refuses_what_is_too_long(void **state)
{
    size_t n = PACKET_ROOM + 10;
    char *text = malloc(n + 4);
    struct reply frame = {0};

    (void)state;
    memset(text, 'a', n);
    packet_frame(&frame, text, n);
    assert_int_equal(feed(frame.data, frame.bytes, 1000), PACKET_LONG);
    reply_clear(&frame);
    packet_frame(&frame, text, PACKET_ROOM);
    assert_int_equal(feed(frame.data, frame.bytes, 1000), PACKET_DATA);
    assert_int_equal(reader.bytes, PACKET_ROOM);
    reply_deinit(&frame);
    free(text);
}

static void reads_back_what_was_framed(void **state)
{
    struct reply data = {0}, frame = {0};
    uint8_t bytes[256];

    (void)state;
    for (int i = 0; i < 256; i++)
        bytes[i] = (uint8_t)i;
    assert_int_equal(reply_binary(&data, bytes, 256, 1000), 256);
    packet_frame(&frame, data.data, data.bytes);
    assert_int_equal(feed(frame.data, frame.bytes, 7), PACKET_DATA);
    assert_int_equal(reader.bytes, 256);
    assert_memory_equal(reader.data, bytes, 256);
    reply_deinit(&data);
    reply_deinit(&frame);
}

static void binary_ends_before_a_half_escape(void **state)
{
    struct reply r = {0};

    (void)state;
    assert_int_equal(reply_binary(&r, "ab#", 3, 3), 2);
    assert_string_equal(r.data, "ab");
    reply_deinit(&r);
}

static void writes_json(void **state)
{
    struct reply r = {0};

    (void)state;
    reply_json(&r, "a\"\\\n\x7f\xc3\xa9\xff\xe2\x82", 10);
    assert_string_equal(r.data, "\"a\\\"\\\\\\u000a\\u007f\xc3\xa9\\ufffd\\ufffd\\ufffd\"");
    reply_clear(&r);
    reply_xml(&r, "<a&\"'\x01>");
    assert_string_equal(r.data, "&#60;a&#38;&#34;&#39;?&#62;");
    reply_clear(&r);
    reply_plain(&r, "a$b#c*d}\n");
    assert_string_equal(r.data, "a?b?c?d?\\n");
    reply_deinit(&r);
}

static struct args args_of(const char *text)
{
    return (struct args){text, text + strlen(text)};
}

static void reads_arguments(void **state)
{
    struct args a = args_of("10,fFx;end");
    struct args part;
    uint64_t n;

    (void)state;
    assert_true(args_hex(&a, &n) && n == 16);
    assert_false(args_hex(&a, &n));
    assert_true(args_take(&a, ',') && args_hex(&a, &n) && n == 255);
    assert_true(args_word(&a, "x") && !args_word(&a, ";ends") && args_take(&a, ';'));
    assert_true(args_until(&a, ';', &part) && args_left(&part) == 3 && args_empty(&a));
    assert_false(args_until(&a, ';', &part));
}

static void refuses_numbers_that_do_not_fit(void **state)
{
    struct args a = args_of("10000000000000000"), b = args_of("ffffffffffffffff"),
                c = args_of("18446744073709551616"), d = args_of("000000000000000000012");
    uint64_t n = 7;

    (void)state;
    assert_false(args_hex(&a, &n));
    assert_int_equal(n, 7);
    assert_true(args_hex(&b, &n) && n == UINT64_MAX);
    assert_false(args_decimal(&c, &n));
    assert_true(args_decimal(&d, &n) && n == 12);
}

static void reads_strings_in_hexadecimal(void **state)
{
    struct args good = args_of("2f62"), odd = args_of("2f6"), nul = args_of("2f0062");
    char text[4];

    (void)state;
    assert_true(args_string(&good, text, sizeof text) && args_empty(&good));
    assert_string_equal(text, "/b");
    assert_false(args_string(&odd, text, sizeof text));
    assert_false(args_string(&nul, text, sizeof text));
    good = args_of("2f626364");
    assert_false(args_string(&good, text, sizeof text));
    assert_int_equal(args_left(&good), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(takes_packets_in_pieces_of_any_size, start),
        cmocka_unit_test_setup(returns_one_event_at_a_time, start),
        cmocka_unit_test_setup(unescapes, start),
        cmocka_unit_test_setup(keeps_bytes_that_mean_something_elsewhere, start),
        cmocka_unit_test_setup(finds_wrong_sums, start),
        cmocka_unit_test_setup(begins_anew_at_a_dollar, start),
        cmocka_unit_test_setup(refuses_what_is_too_long, start),
        cmocka_unit_test_setup(reads_back_what_was_framed, start),
        cmocka_unit_test(binary_ends_before_a_half_escape),
        cmocka_unit_test(writes_json),
        cmocka_unit_test(reads_arguments),
        cmocka_unit_test(refuses_numbers_that_do_not_fit),
        cmocka_unit_test(reads_strings_in_hexadecimal),
    };

    return cmocka_run_group_tests_name("gdbstub_packet", tests, NULL, NULL);
}
