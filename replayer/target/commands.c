/* commands.c - what the supervisor asks of a replaying process alone. SPDX-License-Identifier: MIT
 */
#include "replayer/target/commands.h"

#include "debug/target/stops.h"
#include "engine/core/engine.h"
#include "engine/core/session.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "replayer/target/changes.h"
#include "replayer/target/confine.h"
#include "replayer/target/cursor.h"
#include "replayer/target/divert.h"
#include "replayer/target/flow.h"
#include "replayer/target/journal.h"
#include "replayer/target/play.h"
#include "replayer/target/space.h"
#include "replayer/target/state.h"

static uint64_t run_flags;

bool commands_verify(void)
{
    return run_flags & RUN_VERIFY;
}

bool commands_grows(void)
{
    return run_flags & RUN_GROWS;
}

static void run_on(struct thread *self, const struct mailbox_run *run)
{
    run_flags = run->flags;
    journal_run(run->flags, run->told_events);
    stops_run(self, run);
    if (!divert_is_on())
        return;
    struct thread *t = run->run_thread ? post_thread(run->run_thread) : self;
    if (t && t != self)
        play_become(self, t);
    divert_go_on(t ? t : self);
    engine_run(t ? t : self);
}

/* A copy of this process, which waits for commands in a mailbox of its own. True in the copy. Its
 * parent is ours, the supervisor. */
static bool copy(struct mailbox *box)
{
    const uint64_t number = box->arg[0] % MAILBOXES;
    space_before_copy();
    long pid = sys6(__NR_clone, CONFINE_COPY_FLAGS, 0, 0, 0, 0, 0);
    if (pid) {
        box->arg[0] = (uint64_t)pid;
        return false;
    }
    if (SYS_FAILED(sys6(__NR_mmap, (long)box, sizeof *box, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED, box->box_fd, (long)(number * sizeof *box))))
        sys1(__NR_exit_group, 1);
    space_part();
    post_ask(TELL_DONE); /* now the other one may run on */
    return true;
}

static void tell_state(struct thread *t, enum mailbox_state what)
{
    switch (what) {
    case STATE_OF_SPACE:
        state_tell_space();
        break;
    case STATE_OF_THREADS:
        state_tell_threads(t);
        break;
    case STATE_CHANGES_BEGIN:
        changes_begin();
        break;
    case STATE_OF_CHANGES:
        state_tell_changes();
        break;
    }
}

static enum post_answer do_command(struct thread *t, struct mailbox *box)
{
    switch (box->op) {
    case DO_DIVERT:
        space_own_all();
        divert();
        break;
    case DO_MAPS:
        box->arg[0] = (uint64_t)space_list((int)box->arg[0], (struct mailbox_map *)box->data, 1024);
        break;
    case DO_STATE:
        tell_state(t, (enum mailbox_state)box->arg[0]);
        break;
    case DO_COPY:
        return copy(box) ? POST_ANSWERED : POST_DONE;
    default:
        return POST_UNKNOWN;
    }
    return POST_DONE;
}

static const struct instrument *find_tool(struct thread *self, const char *name)
{
    return rt_streq(name, "flow") ? flow_tool(self) : NULL;
}

const struct post_program commands_of_replay = {
    .events = cursor_number,
    .stopping = journal_flush,
    .run = run_on,
    .is_writable = divert_is_on,
    .tool = find_tool,
    .command = do_command,
};
