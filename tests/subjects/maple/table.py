"""table.py - the subjects of the search: program, arguments, whether it has a correct form.

SPDX-License-Identifier: MIT
"""

# name: (source, arguments)
SUBJECTS = {
    "lost_update": ("lost_update", []),
    "withdraw": ("withdraw", []),
    "two_variables": ("two_variables", []),
    "use_before_init": ("use_before_init", []),
    "use_after_free": ("use_after_free", []),
    "reorder_3": ("reorder", ["3"]),
    "reorder_5": ("reorder", ["5"]),
    "reorder_10": ("reorder", ["10"]),
    "reorder_20": ("reorder", ["20"]),
    "reorder_50": ("reorder", ["50"]),
    "reorder_100": ("reorder", ["100"]),
    "stack_wrong_lock": ("stack_wrong_lock", []),
    "queue_wrong_lock": ("queue_wrong_lock", []),
    "two_stage_2": ("two_stage", ["2"]),
    "two_stage_20": ("two_stage", ["20"]),
    "two_stage_50": ("two_stage", ["50"]),
    "two_stage_100": ("two_stage", ["100"]),
    "work_stealing": ("work_stealing", []),
    "missing_signal": ("missing_signal", []),
    "philosophers_3": ("philosophers", ["3"]),
    "philosophers_5": ("philosophers", ["5"]),
    "abba": ("abba", []),
    "three_way": ("three_way", []),
    "double_checked": ("double_checked", []),
    "token_ring": ("token_ring", []),
    "stop_flag": ("stop_flag", []),
    "aba_stack": ("aba_stack", []),
    "quicksort": ("quicksort", []),
    "no_barrier": ("no_barrier", []),
    "string_buffer": ("string_buffer", []),
    "double_fetch": ("double_fetch", []),
    "lazy": ("lazy", []),
    "transfer": ("transfer", []),
    "circular_buffer": ("circular_buffer", []),
    "reference_count": ("reference_count", []),
    "log_processed": ("log_processed", []),
    "reader_writer": ("reader_writer", []),
    "lost_wakeup": ("lost_wakeup", []),
    "publish_late": ("publish_late", []),
}

# Written before anybody looked what the search makes of them, of kinds that the others have not. The bench has them.
BLIND = {name: (name, []) for name in (
    "cond_if", "seqlock", "audit", "shutdown", "handler", "semaphore", "upgrade", "test_then_set", "grow", "pool_task", "barrier_reuse",
    "fork_locked", "messages", "counter_file", "static_buffer", "counter",
    "peterson", "bakery", "list_remove", "config_swap", "pop_empty", "cache_evict", "listener", "wrong_waiter", "nested_monitor", "hazard")}

# Those whose source has a correct form (-DFIXED).
TWINS = [
    "lost_update", "withdraw", "two_variables", "use_before_init", "use_after_free", "reorder_5", "stack_wrong_lock",
    "queue_wrong_lock", "work_stealing", "missing_signal", "philosophers_3", "abba", "three_way", "double_checked", "stop_flag",
    "aba_stack", "quicksort", "no_barrier", "string_buffer", "double_fetch", "transfer", "circular_buffer", "reference_count",
    "log_processed", "reader_writer", "lost_wakeup", "publish_late",
]
