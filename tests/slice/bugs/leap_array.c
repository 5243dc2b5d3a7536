/* leap_array.c - the last day of a leap year is counted behind the end of an array on the stack.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct year {
    int number, visits;
};

static const unsigned char lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

struct work {
    int day[366];
    struct year *year;
};

static int is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int visits_on(int year, int day)
{
    int hash = year * 31 + day * 17;
    return hash % 5 + (day % 7 == 0);
}

static int weeks_above(const int *day, int days, int limit)
{
    int above = 0;
    for (int i = 0; i + 7 <= days; i += 7) {
        int sum = 0;
        for (int k = 0; k < 7; k++)
            sum += day[i + k];
        above += sum > limit;
    }
    return above;
}

static void __attribute__((noinline)) finish(struct work *w, int first, int days)
{
    int above = weeks_above(w->day + first, days, 14);
    for (int i = 0; i < days; i++)
        w->year->visits += w->day[i + first];
    w->year->visits -= above;
}

static void __attribute__((noinline)) summarize(struct year *into)
{
    struct work work = {.year = into};
    int days = 0;
    for (int month = 0; month < 12; month++)
        days += lengths[month] + (month == 1 && is_leap(into->number));
#ifdef FIXED
    int first = 0;
#else
    int first = 1; /* ROOT CAUSE */
#endif
    for (int day = 0; day < days; day++)
        work.day[day + first] = visits_on(into->number, day + 1); /* ROOT CAUSE */
    finish(&work, first, days);
}

int main(void)
{
    struct year years[4];
    for (int i = 0; i < 4; i++)
        years[i] = (struct year){2021 + i, 0};
    for (int i = 0; i < 4; i++)
        summarize(&years[i]);
    for (int i = 0; i < 4; i++)
        printf("%d: %d\n", years[i].number, years[i].visits);
    return 0;
}
