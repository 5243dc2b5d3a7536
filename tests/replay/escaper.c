/* escaper.c - a replaying process that tries to get away, or to take others with it.
 *
 * SPDX-License-Identifier: MIT
 *
 * Like talker.c it is put into a pinball by hostile.c and writes itself over the runtime. What it
 * tries is in its settings (escaper.h). Where it is not stopped, it stops as a runtime would, so
 * that its supervisor goes on.
 */
#include "escaper.h"
#include "debug/mailbox.h"
#include "talker.h"

enum { MMAP = 9, MUNMAP = 11, CLONE = 56, FTRUNCATE = 77, FUTEX = 202, MEMFD_CREATE = 319 };
enum { COPY_FLAGS = 0x8000 /* CLONE_PARENT */ | 17 /* SIGCHLD */ };
enum { PIECE = 32 << 20, PAGE = 4096, READ_WRITE = 3, SHARED = 1, PRIVATE = 2, ANONYMOUS = 0x20 };

static struct mailbox *box;

static long call(long nr, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static void hand_over(struct mailbox *b, uint32_t op)
{
    b->op = op;
    __atomic_store_n(&b->turn, TURN_HOST, __ATOMIC_RELEASE);
    call(FUTEX, (long)&b->turn, 1 /* WAKE */, 1, 0, 0, 0);
}

static void say(uint32_t op)
{
    hand_over(box, op);
    while (__atomic_load_n(&box->turn, __ATOMIC_ACQUIRE) != TURN_TARGET)
        call(FUTEX, (long)&box->turn, 0 /* WAIT */, TURN_HOST, 0, 0, 0);
}

static void fill_stop(void)
{
    struct mailbox_stop *s = (struct mailbox_stop *)box->data;
    for (volatile uint8_t *p = box->data; p < box->data + sizeof *s; p++)
        *p = 0;
    s->what.reason = STOP_POSITION;
    s->what.at.thread = 1;
    s->what.at.stage = STAGE_BEFORE;
}

_Noreturn static void spin(void)
{
    for (;;)
        __asm__ volatile("pause");
}

static long make_process(void)
{
    return call(CLONE, COPY_FLAGS, 0, 0, 0, 0, 0);
}

/* ---- what it tries ---- */

/* Commands, but for copies: those are told to be process `pid`, or made, and never obey again. */
_Noreturn static void obey(long pid)
{
    fill_stop();
    say(TELL_STOP);
    for (;; say(TELL_DONE)) {
        if (box->op != DO_COPY)
            continue;
        struct mailbox *copy =
            (struct mailbox *)call(MMAP, 0, sizeof *box, READ_WRITE, SHARED, (long)box->box_fd,
                                   (long)(box->arg[0] % MAILBOXES * sizeof *box));
        long made = pid ? pid : make_process();
        if (!made) {
            hand_over(copy, TELL_DONE);
            spin();
        }
        if (pid)
            hand_over(copy, TELL_DONE); /* in the name of the one that it is said to be */
        box->arg[0] = (uint64_t)made;
    }
}

static void make_processes(uint64_t count)
{
    while (count--)
        if (!make_process())
            spin();
}

static void touch(uint8_t *from, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += PAGE)
        *(volatile uint8_t *)(from + at) = 1;
}

static void eat(uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes; done += PIECE)
        touch((uint8_t *)call(MMAP, 0, PIECE, READ_WRITE, PRIVATE | ANONYMOUS, -1, 0), PIECE);
}

/* In files that nothing shows but their descriptors. */
static void eat_unmapped(uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes; done += PIECE) {
        const long fd = call(MEMFD_CREATE, (long)"x", 0, 0, 0, 0, 0);
        call(FTRUNCATE, fd, PIECE, 0, 0, 0, 0);
        const long at = call(MMAP, 0, PIECE, READ_WRITE, SHARED, fd, 0);
        touch((uint8_t *)at, PIECE);
        call(MUNMAP, at, PIECE, 0, 0, 0, 0);
    }
}

/* Page tables: the page itself is the same everywhere, and counts for nobody. */
static void eat_tables(uint64_t bytes)
{
    const uint64_t apart = 2 << 20, reach = bytes / PAGE * apart;
    const long at = call(MMAP, 0, (long)reach, 1 /* PROT_READ */,
                         PRIVATE | ANONYMOUS | 0x4000 /* NORESERVE */, -1, 0);
    for (uint64_t done = 0; done < reach; done += apart)
        (void)*(volatile uint8_t *)(at + (long)done);
}

/* The copy that was asked for is there, and nobody says so. */
_Noreturn static void eat_copy(uint64_t bytes)
{
    fill_stop();
    say(TELL_STOP);
    while (box->op != DO_COPY)
        say(TELL_DONE);
    if (!make_process())
        eat(bytes);
    spin();
}

void escaper(void) __attribute__((section(".text.first"), used));

__attribute__((used)) static void run(void)
{
    const struct escaper *e = (const struct escaper *)(HOSTILE_CODE + TALKER_SETTINGS);
    const uint64_t *a = e->arg;
    box = (struct mailbox *)((HOSTILE_BASE - sizeof *box) & ~(uint64_t)(PAGE - 1));
    switch (e->how) {
    case ESCAPE_NAME:
        obey((long)a[0]);
    case ESCAPE_OBEY:
        obey(0);
    case ESCAPE_MAKE:
        make_processes(a[0]);
        spin();
    case ESCAPE_MAKE_IDLE:
        fill_stop();
        hand_over(box, TELL_STOP);
        make_processes(a[0]);
        spin();
    case ESCAPE_EAT_COPY:
        eat_copy(a[0]);
    case ESCAPE_EAT:
        eat(a[0]);
        break;
    case ESCAPE_EAT_UNMAPPED:
        eat_unmapped(a[0]);
        break;
    case ESCAPE_EAT_TABLES:
        eat_tables(a[0]);
        break;
    case ESCAPE_CALL:
        call((long)a[0], (long)a[1], (long)a[2], (long)a[3], (long)a[4], 0, 0);
        break;
    }
    obey(0);
}

/* Wherever the stack is. */
__attribute__((naked)) void escaper(void)
{
    __asm__("and $-16, %rsp\n call run");
}
