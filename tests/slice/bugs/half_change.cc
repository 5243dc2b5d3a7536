/* half_change.cc - an order is counted before it is checked, and an exception leaves the count.
 *
 * SPDX-License-Identifier: MIT
 */
#include <cassert>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

struct item {
    std::string name;
    int amount;
};

class warehouse
{
  public:
    void stock(const std::string &name, int amount)
    {
        on_hand[name] += amount;
    }

    void take(const item &wanted)
    {
#ifdef FIXED
        check(wanted);
        reserved[wanted.name] += wanted.amount;
#else
        reserved[wanted.name] += wanted.amount; /* ROOT CAUSE */
        check(wanted);
#endif
    }

    int left(const std::string &name) const
    {
        auto has = on_hand.find(name), is = reserved.find(name);
        return (has == on_hand.end() ? 0 : has->second) - (is == reserved.end() ? 0 : is->second);
    }

  private:
    void check(const item &wanted) const
    {
        if (wanted.amount <= 0 || wanted.amount > 50)
            throw std::invalid_argument("amount of " + wanted.name);
    }

    std::map<std::string, int> on_hand, reserved;
};

static int order(warehouse &w, const std::vector<item> &items)
{
    int taken = 0;
    for (const item &i : items) {
        try {
            w.take(i);
            taken++;
        } catch (const std::invalid_argument &e) {
            std::printf("refused: %s\n", e.what());
        }
    }
    return taken;
}

int main()
{
    warehouse w;
    w.stock("nails", 400);
    w.stock("boards", 60);
    int taken =
        order(w, {{"nails", 50}, {"boards", 20}, {"nails", 120}, {"nails", 30}, {"boards", 5}});
    int nails = w.left("nails");
    std::printf("%d orders, %d nails\n", taken, nails);
    assert(nails == 400 - 50 - 30);
    return 0;
}
