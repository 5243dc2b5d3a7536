/* pager.h - long text on a terminal is read by pages. SPDX-License-Identifier: MIT */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

/* If standard output is a terminal, what is written from now on goes through $PAGER, or less. */
void pager_begin(void);
/* Waits until the user has read it. */
void pager_end(void);

#endif
