/* zune_days.c - on the last day of a leap year, days are turned into years for ever.
 *
 * SPDX-License-Identifier: MIT
 *
 * After the clock driver of Microsoft's Zune 30, which stopped on 31 December 2008: its loop goes
 * on while there are more than 365 days, and takes 366 away only if there are more than 366.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ORIGIN 1980

struct date {
    int year, month, day;
};

static int is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* The original's user waited, and then for the battery to be empty. */
static void feed_watchdog(void)
{
    static int fed;
    assert(++fed < 3000);
}

static void from_days(int days, struct date *d)
{
    static const int lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = ORIGIN;
    while (days > 365) {
        feed_watchdog();
        if (is_leap(year)) {
            if (days > 366) { /* ROOT CAUSE */
                days -= 366;
                year++;
            }
#ifdef FIXED
            else
                break;
#endif
        } else {
            days -= 365;
            year++;
        }
    }
    d->year = year;
    for (d->month = 0; days > lengths[d->month] + (d->month == 1 && is_leap(year)); d->month++)
        days -= lengths[d->month] + (d->month == 1 && is_leap(year));
    d->day = days;
    d->month++;
}

static int days_of(unsigned seconds)
{
    return (int)(seconds / 86400) + 1;
}

int main(void)
{
    unsigned seconds = 10590u * 86400u;
    for (int day = 0; day < 8; day++, seconds += 86400) {
        struct date d;
        from_days(days_of(seconds), &d);
        printf("%04d-%02d-%02d\n", d.year, d.month, d.day);
        fflush(stdout);
    }
    return 0;
}
