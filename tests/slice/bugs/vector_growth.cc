/* vector_growth.cc - a reference into a vector is kept while the vector grows.
 *
 * SPDX-License-Identifier: MIT
 */
#include <cassert>
#include <cstdio>
#include <string>
#include <vector>

struct Task {
    int priority;
    std::vector<int> children;
    long cost;
};

class Plan {
public:
    int add(int priority, long cost)
    {
        tasks.push_back(Task{priority, {}, cost});
        return static_cast<int>(tasks.size()) - 1;
    }

    void split(int index, int parts)
    {
#ifdef FIXED
        tasks.reserve(tasks.size() + static_cast<size_t>(parts));
#endif
        Task &parent = tasks[static_cast<size_t>(index)]; /* ROOT CAUSE */
        for (int i = 0; i < parts; i++) {
            int child = add(parent.priority + 1, parent.cost / parts);
            parent.children.push_back(child);
        }
        parent.cost = 0;
    }

    long total() const
    {
        long sum = 0;
        for (const Task &t : tasks)
            sum += t.cost;
        return sum;
    }

    size_t leaves() const
    {
        size_t n = 0;
        for (const Task &t : tasks)
            n += t.children.empty();
        return n;
    }

private:
    std::vector<Task> tasks;
};

int main()
{
    Plan plan;
    for (int i = 0; i < 3; i++)
        plan.add(i, 100);
    plan.split(1, 4);
    std::printf("%zu leaves, cost %ld\n", plan.leaves(), plan.total());
    assert(plan.leaves() == 6);
    assert(plan.total() == 300);
    return 0;
}
