/* map_erase.cc - a listener that is called in a loop over the listeners takes itself off the list.
 *
 * SPDX-License-Identifier: MIT
 */
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>

class Bus {
public:
    using Listener = std::function<void(int, const std::string &)>;

    int subscribe(Listener listener)
    {
        listeners[next] = std::move(listener);
        return next++;
    }

    void unsubscribe(int id)
    {
        listeners.erase(id); /* ROOT CAUSE */
    }

    void publish(const std::string &text)
    {
#ifdef FIXED
        std::map<int, Listener> now = listeners;
        for (auto &entry : now)
            entry.second(entry.first, text);
#else
        for (auto &entry : listeners) /* ROOT CAUSE */
            entry.second(entry.first, text);
#endif
    }

private:
    std::map<int, Listener> listeners;
    int next = 1;
};

struct Note {
    char text[88];
};

int main()
{
    Bus bus;
    long seen = 0;
    Note *notes[4] = {};
    int used = 0;
    for (int i = 0; i < 3; i++)
        bus.subscribe([&seen](int, const std::string &text) { seen += static_cast<long>(text.size()); });
    bus.subscribe([&](int id, const std::string &text) {
        if (text == "quit") {
            bus.unsubscribe(id);
            for (Note *&n : notes) {
                n = new Note;
                std::memset(n->text, 'n', sizeof n->text);
                used++;
            }
        }
    });
    bus.subscribe([&seen](int, const std::string &) { seen++; });
    for (int i = 0; i < 10; i++)
        bus.publish("event " + std::to_string(i));
    bus.publish("quit");
    bus.publish("last");
    std::printf("%ld seen, %d notes\n", seen, used);
    for (Note *n : notes)
        delete n;
    return 0;
}
