/* timeline_private.h - what the files of a timeline share. SPDX-License-Identifier: MIT */
#ifndef REPLAYER_TIMELINE_PRIVATE_H
#define REPLAYER_TIMELINE_PRIVATE_H

#include "replayer/timeline.h"

struct pinball *timeline_pinball(struct timeline *timeline);

#endif
