/* net_namespace.c PART - bridges, TUN devices and packet filters in a network namespace of its own.
 *
 * Ends with 77, and says why, where the kernel or the machine's rules do not let it try PART. */
#include "rule.h"
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <linux/filter.h>
#include <linux/if.h>
#include <linux/if_bridge.h>
#include <linux/if_tun.h>
#include <linux/netfilter_bridge/ebtables.h>
#include <linux/netfilter_ipv4/ip_tables.h>
#include <linux/sockios.h>

static void must(int good, const char *what)
{
    if (good)
        return;
    say("skipped: %s: %s\n", what, strerror(errno));
    exit(77);
}

/* ---- bridges ---- */

static void bridges(void)
{
    int s = socket(AF_INET, SOCK_STREAM, 0);
    int index[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    must(ioctl(s, SIOCBRADDBR, "first") == 0, "SIOCBRADDBR");
    check(ioctl(s, SIOCBRADDBR, "second") == 0);
    struct ifreq r = {.ifr_name = "second"};
    check(ioctl(s, SIOCGIFINDEX, &r) == 0);
    int second = r.ifr_ifindex;
    unsigned long args[4] = {BRCTL_GET_BRIDGES, (unsigned long)index, 8};
    int n = ioctl(s, SIOCGIFBR, args);
    if (n >= 0)
        check(n == 2 && (index[0] == second || index[1] == second));
    say("second is %d; %d bridges: %d %d %d\n", second, n, index[0], index[1], index[2]);
    check(ioctl(s, SIOCGIFHWADDR, &r) == 0);
    say("%016lx\n", digest(&r, sizeof r)); /* an address that the kernel drew */
    strcpy(r.ifr_name, "first");
    r.ifr_ifindex = second;
    say("a bridge in a bridge: %d %d\n", ioctl(s, SIOCBRADDIF, &r), errno);
    check(ioctl(s, SIOCBRDELBR, "first") == 0);
}

/* ---- TUN ---- */

static void tun(void)
{
    int fd = open("/dev/net/tun", O_RDWR), n = -1;
    must(fd >= 0, "/dev/net/tun");
    struct ifreq r = {.ifr_name = "drd%d", .ifr_flags = IFF_TAP | IFF_NO_PI};
    must(ioctl(fd, TUNSETIFF, &r) == 0, "TUNSETIFF");
    say("%s %x\n", r.ifr_name, (unsigned)r.ifr_flags);
    memset(&r, 0x55, sizeof r);
    check(ioctl(fd, TUNGETIFF, &r) == 0);
    say("%s %x %016lx\n", r.ifr_name, (unsigned)r.ifr_flags, digest(&r, sizeof r));
    check(ioctl(fd, TUNGETFEATURES, &n) == 0);
    say("features %x\n", (unsigned)n);
    check(ioctl(fd, TUNGETSNDBUF, &n) == 0);
    say("send buffer %d\n", n);
    check(ioctl(fd, TUNGETVNETHDRSZ, &n) == 0);
    say("header %d\n", n);
    struct sock_filter accept = {.code = BPF_RET | BPF_K, .k = 0xffff};
    struct sock_fprog program = {1, &accept}, got;
    memset(&got, 0, sizeof got);
    say("filter %d\n", ioctl(fd, TUNATTACHFILTER, &program));
    check(ioctl(fd, TUNGETFILTER, &got) == 0);
    say("%d %d\n", got.len, got.filter == &accept);
    struct {
        struct tun_filter head;
        uint8_t address[2][6];
    } filter = {.head = {.count = 2}};
    say("addresses %d\n", ioctl(fd, TUNSETTXFILTER, &filter));
}

/* ---- packet filters ---- */

static void some_traffic(void)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    struct ifreq r = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    uint8_t n;
    fill(&n, 1);
    check(ioctl(s, SIOCSIFFLAGS, &r) == 0);
    for (int i = 0; i < n % 50 + 3; i++)
        sendto(s, "x", 1, 0, (struct sockaddr *)&to, sizeof to);
}

static void filters(void)
{
    int s = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
    struct ipt_getinfo info = {.name = "filter"};
    socklen_t n = sizeof info;
    must(s >= 0 && getsockopt(s, SOL_IP, IPT_SO_GET_INFO, &info, &n) == 0, "IPT_SO_GET_INFO");
    some_traffic();
    struct ipt_get_entries *old = calloc(1, sizeof *old + info.size);
    strcpy(old->name, "filter");
    old->size = info.size;
    n = (socklen_t)(sizeof *old + info.size);
    check(getsockopt(s, SOL_IP, IPT_SO_GET_ENTRIES, old, &n) == 0);
    say("%u entries, %u bytes, %016lx\n", info.num_entries, info.size, digest(old, n));
    struct xt_counters *counters = calloc(info.num_entries, sizeof *counters);
    struct ipt_replace *new = calloc(1, sizeof *new + info.size);
    strcpy(new->name, "filter");
    new->valid_hooks = info.valid_hooks;
    new->num_entries = new->num_counters = info.num_entries;
    new->size = info.size;
    memcpy(new->hook_entry, info.hook_entry, sizeof new->hook_entry);
    memcpy(new->underflow, info.underflow, sizeof new->underflow);
    new->counters = counters;
    memcpy(new->entries, old->entrytable, info.size);
    check(setsockopt(s, SOL_IP, IPT_SO_SET_REPLACE, new, (socklen_t)(sizeof *new + info.size)) ==
          0);
    uint64_t packets = 0;
    for (unsigned i = 0; i < info.num_entries; i++)
        packets += counters[i].pcnt;
    say("%lu packets until then\n", packets);
    check(packets >= 3);
}

static void bridge_filters(void)
{
    int s = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
    struct ebt_replace r = {.name = "filter"};
    socklen_t n = sizeof r;
    must(s >= 0 && getsockopt(s, SOL_IP, EBT_SO_GET_INFO, &r, &n) == 0, "EBT_SO_GET_INFO");
    char *entries = calloc(1, r.entries_size + 1);
    struct ebt_counter *counters = calloc(r.nentries + 1, sizeof *counters);
    memset(counters, 0x55, (r.nentries + 1) * sizeof *counters);
    r.entries = entries;
    r.num_counters = r.nentries;
    r.counters = r.nentries ? counters : NULL;
    n = sizeof r;
    check(getsockopt(s, SOL_IP, EBT_SO_GET_ENTRIES, &r, &n) == 0);
    say("%u entries, %u bytes, %016lx %016lx\n", r.nentries, r.entries_size,
        digest(entries, r.entries_size), digest(counters, r.nentries * sizeof *counters));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } part[] = {{"bridges", bridges},
                {"tun", tun},
                {"filters", filters},
                {"bridge_filters", bridge_filters}};
    must(unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0, "a user and network namespace");
    for (size_t i = 0; argc == 2 && i < sizeof part / sizeof part[0]; i++)
        if (strcmp(argv[1], part[i].name) == 0) {
            part[i].run();
            return 0;
        }
    return 9;
}
