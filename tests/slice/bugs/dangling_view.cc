/* dangling_view.cc - a view of a string is kept that was made for one statement only.
 *
 * SPDX-License-Identifier: MIT
 */
#include <cassert>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

struct header {
    std::string_view name;
    int weight;
};

class table
{
  public:
    void add(const std::string &prefix, const std::string &name, int weight)
    {
#ifdef FIXED
        names.push_back(prefix + "-" + name);
        rows.push_back({names.back(), weight});
#else
        rows.push_back({prefix + "-" + name, weight}); /* ROOT CAUSE */
#endif
    }

    int weight_of(std::string_view name) const
    {
        for (const header &h : rows)
            if (h.name == name)
                return h.weight;
        return 0;
    }

    table()
    {
        names.reserve(64);
    }

  private:
    std::vector<std::string> names;
    std::vector<header> rows;
};

static int count_letters(const std::string &text)
{
    int n = 0;
    for (char c : text)
        n += c >= 'a' && c <= 'z';
    return n;
}

int main()
{
    table t;
    int letters = 0;
    for (int i = 0; i < 6; i++) {
        t.add("x-content-type-of-the", "answer" + std::to_string(i), 10 + i);
        letters += count_letters("some text that takes memory " + std::to_string(i * 1000));
    }
    int sum = 0;
    for (int i = 0; i < 6; i++)
        sum += t.weight_of("x-content-type-of-the-answer" + std::to_string(i));
    std::printf("%d letters, %d\n", letters, sum);
    assert(sum == 75);
    return 0;
}
