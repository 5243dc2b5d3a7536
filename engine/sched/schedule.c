/* schedule.c - the strategies, and which one is in force. SPDX-License-Identifier: MIT */
#include "engine/sched/schedule.h"

#include "engine/rt/rt.h"

static const struct schedule *const rows[] = {
#define SCHEDULE(name) &name##_schedule,
#include "engine/sched/schedules.def"
#undef SCHEDULE
};

const struct schedule *schedule = &plain_schedule;

static bool is_key(const char *option, const char *name)
{
    for (; *name; name++)
        if (*option++ != *name)
            return false;
    return *option == '=';
}

bool schedule_use(const char *option)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (is_key(option, rows[i]->name)) {
            schedule = rows[i];
            return true;
        }
    return false;
}
