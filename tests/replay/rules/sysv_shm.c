/* sysv_shm.c - System V shared memory, attached twice, and its numbers; a clock after that. */
#include "rule.h"
#include <sys/ipc.h>
#include <sys/shm.h>
#include <time.h>

int main(void)
{
    int id = shmget(IPC_PRIVATE, 2 * PAGE, IPC_CREAT | 0600);
    check(id >= 0);
    uint8_t *a = shmat(id, NULL, 0), *b = shmat(id, NULL, SHM_RDONLY);
    struct shmid_ds ds;
    check(a != (void *)-1 && b != (void *)-1 && a != b);
    fill(a, 2 * PAGE);
    check(memcmp(a, b, 2 * PAGE) == 0);
    check(shmctl(id, IPC_STAT, &ds) == 0 && ds.shm_nattch == 2);
    say("id %d at %p %p by %d at %ld: %016lx\n", id, (void *)a, (void *)b, ds.shm_cpid,
        ds.shm_ctime, digest(b, 2 * PAGE));
    check(shmdt(a) == 0);
    check(shmctl(id, IPC_RMID, NULL) == 0);
    say("%016lx\n", digest(b, 2 * PAGE));
    check(shmdt(b) == 0);
    struct timespec now; /* the vDSO is still the recorder's */
    check(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    say("%ld.%09ld\n", (long)now.tv_sec, now.tv_nsec);
    return 0;
}
