/* sites.c - which instructions are sites of the agenda.
 *
 * SPDX-License-Identifier: MIT
 *
 * Without a profile these are all that lock the bus: threads synchronise by them.
 */
#include "maple-bridge/target/sites.h"

#include "engine/os/maps.h"
#include "engine/rt/rt.h"
#include "maple-bridge/target/tactic.h"

enum { MODULES = 64, SLOTS = 1 << 14 };

/* Mappings of code that were met. */
static struct module {
    struct region at;
    uint64_t offset, key; /* key 0: of no file */
} modules[MODULES];
static unsigned next_module;

/* Sites by pc, hashed; one that finds no place near its own is none. */
static struct slot {
    gaddr pc;
    uint16_t site;
} slots[SLOTS];

static struct slot *slot_of(gaddr pc)
{
    enum { NEAR = 8 };
    for (uint32_t i = 0; i < NEAR; i++) {
        struct slot *s = &slots[(hash_word(pc) + i) % SLOTS];
        if (!s->pc || s->pc == pc)
            return s;
    }
    return NULL;
}

static const struct module *module_of(gaddr pc)
{
    char path[4096];
    for (unsigned i = 0; i < MODULES; i++)
        if (modules[i].at.start <= pc && pc < modules[i].at.end)
            return &modules[i];
    struct module *m = &modules[next_module++ % MODULES];
    *m = (struct module){.at = {.start = PAGE_DOWN(pc), .end = PAGE_DOWN(pc) + PAGE_BYTES}};
    if (maps_file(pc, path, sizeof path, &m->at, &m->offset))
        m->key = agenda_module(path);
    return m;
}

static uint16_t find(uint64_t key)
{
    const uint32_t all = agenda->sites < AGENDA_SITES ? agenda->sites : AGENDA_SITES;
    uint32_t low = 0, high = agenda->wanted < AGENDA_SITES ? agenda->wanted : AGENDA_SITES;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const uint16_t site = agenda->by_key[middle];
        if (site >= all || agenda->site[site].key == key)
            return site < all ? site : 0;
        if (agenda->site[site].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

bool sites_wants(const struct insn *in)
{
    if (agenda->sites <= 1)
        return insn_locks(in);
    const struct module *m = module_of(in->pc);
    uint16_t site = m->key ? find(agenda_key(m->key, m->offset + (in->pc - m->at.start))) : 0;
    struct slot *s = site ? slot_of(in->pc) : NULL;
    if (!s)
        return false;
    *s = (struct slot){in->pc, site};
    return true;
}

uint16_t sites_of(gaddr pc)
{
    const struct slot *s = slot_of(pc);
    return s && s->pc == pc ? s->site : 0;
}
