/* end_reason.h - how a recording ended: a part of record.h. SPDX-License-Identifier: MIT */
#ifndef PINBALL_END_REASON_H
#define PINBALL_END_REASON_H

enum end_reason {
    END_EXIT = 1,   /* status: what exit_group or the last exit was given */
    END_SIGNAL = 2, /* status: the signal */
    END_EXEC = 3,   /* the program replaced itself; the new one is not recorded */
    END_KILLED = 4, /* the process is gone and could not say why: status as wait tells it */
    END_LOST = 5,   /* the recorder is gone */
    END_FULL = 6,   /* no room on disk: status is the errno */
    END_FAILED = 7, /* something could not be recorded; status: 0 */
    END_REGION = 8, /* the program went on; the recording is of a part. status: 0 */
};

#endif
