/* calls.c - functions that take, give back and wait. SPDX-License-Identifier: MIT */
#include "facts/locks/calls.h"

#include <string.h>

#include "facts/order/parts.h"

static const struct {
    const char *name;
    struct calls_function is;
} known[] = {
    {"pthread_mutex_lock", {LOCKS_MUTEX, CALLS_TAKES}},
    {"pthread_mutex_trylock", {LOCKS_MUTEX, CALLS_TRIES}},
    {"pthread_mutex_timedlock", {LOCKS_MUTEX, CALLS_TRIES}},
    {"pthread_mutex_clocklock", {LOCKS_MUTEX, CALLS_TRIES}},
    {"pthread_mutex_unlock", {LOCKS_MUTEX, CALLS_GIVES}},
    {"pthread_mutex_init", {LOCKS_MUTEX, CALLS_MAKES}},
    {"pthread_mutex_destroy", {LOCKS_MUTEX, CALLS_MAKES}},
    {"pthread_rwlock_rdlock", {LOCKS_RWLOCK, CALLS_TAKES_SHARED}},
    {"pthread_rwlock_timedrdlock", {LOCKS_RWLOCK, CALLS_TRIES_SHARED}},
    {"pthread_rwlock_clockrdlock", {LOCKS_RWLOCK, CALLS_TRIES_SHARED}},
    {"pthread_rwlock_tryrdlock", {LOCKS_RWLOCK, CALLS_TRIES_SHARED}},
    {"pthread_rwlock_wrlock", {LOCKS_RWLOCK, CALLS_TAKES}},
    {"pthread_rwlock_timedwrlock", {LOCKS_RWLOCK, CALLS_TRIES}},
    {"pthread_rwlock_clockwrlock", {LOCKS_RWLOCK, CALLS_TRIES}},
    {"pthread_rwlock_trywrlock", {LOCKS_RWLOCK, CALLS_TRIES}},
    {"pthread_rwlock_unlock", {LOCKS_RWLOCK, CALLS_GIVES}},
    {"pthread_rwlock_init", {LOCKS_RWLOCK, CALLS_MAKES}},
    {"pthread_rwlock_destroy", {LOCKS_RWLOCK, CALLS_MAKES}},
    {"pthread_spin_lock", {LOCKS_SPIN, CALLS_TAKES}},
    {"pthread_spin_unlock", {LOCKS_SPIN, CALLS_GIVES}},
    {"pthread_cond_signal", {LOCKS_CONDITION, CALLS_GIVES}},
    {"pthread_cond_broadcast", {LOCKS_CONDITION, CALLS_GIVES}},
    {"cnd_signal", {LOCKS_CONDITION, CALLS_GIVES}},
    {"cnd_broadcast", {LOCKS_CONDITION, CALLS_GIVES}},
    {"sem_post", {LOCKS_SEMAPHORE, CALLS_GIVES}},
    {"pthread_cond_wait", {LOCKS_CONDITION, CALLS_WAITS}},
    {"pthread_cond_timedwait", {LOCKS_CONDITION, CALLS_WAITS}},
    {"pthread_cond_clockwait", {LOCKS_CONDITION, CALLS_WAITS}},
    {"cnd_wait", {LOCKS_CONDITION, CALLS_WAITS}},
    {"cnd_timedwait", {LOCKS_CONDITION, CALLS_WAITS}},
    {"sem_wait", {LOCKS_SEMAPHORE, CALLS_WAITS}},
    {"sem_timedwait", {LOCKS_SEMAPHORE, CALLS_WAITS}},
    {"sem_clockwait", {LOCKS_SEMAPHORE, CALLS_WAITS}},
    {"pthread_barrier_wait", {LOCKS_BARRIER, CALLS_WAITS}},
    {"pthread_join", {LOCKS_JOIN, CALLS_WAITS}},
    {"pthread_timedjoin_np", {LOCKS_JOIN, CALLS_WAITS}},
    {"pthread_clockjoin_np", {LOCKS_JOIN, CALLS_WAITS}},
    {"thrd_join", {LOCKS_JOIN, CALLS_WAITS}},
    {"pthread_once", {LOCKS_ONCE, CALLS_WAITS}},
    {"call_once", {LOCKS_ONCE, CALLS_WAITS}},
};

/* Functions that take a time have a second name in the C library, which ends in 64. */
static bool is_called(const char *name, const char *wanted)
{
    const size_t n = strlen(wanted);
    return strncmp(name, wanted, n) == 0 && (!name[n] || strcmp(name + n, "64") == 0);
}

struct calls_function calls_known(const char *name)
{
    name = parts_name(name);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_called(name, known[i].name))
            return known[i].is;
    return (struct calls_function){.kind = LOCKS_NONE};
}

/* Does an instruction of the block before `end` change the register? */
static bool changes(struct code *code, const struct code_block *b, const uint64_t *values,
                    unsigned end, unsigned reg)
{
    const unsigned first = loc_gpr(reg);
    for (unsigned i = 0; i < end; i++) {
        const struct defuse *du = code_defuse(code, b, i, 0, values);
        for (unsigned k = 0; !du || k < du->defs; k++)
            if (!du || (du->def[k].first < first + LOC_GPR_BYTES &&
                        first < du->def[k].first + du->def[k].count))
                return true;
    }
    return false;
}

gaddr calls_argument(struct code *code, const struct code_block *b, const uint64_t *values)
{
    for (unsigned i = 0; i < b->slots; i++) {
        const struct plan_slot *s = &b->slot[i];
        if (s->kind == PLAN_REG && s->what == RDI &&
            !changes(code, b, values, s->insn + (s->after ? 1u : 0u), RDI))
            return values[i];
    }
    return 0;
}
