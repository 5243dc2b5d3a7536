"""window.py - a GTK window that is drawn, asked for its size, and closed."""
import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402  pylint: disable=wrong-import-position


def close(window):
    print("size", window.get_size())
    window.close()


win = Gtk.Window(title="window")
win.set_default_size(300, 200)
win.add(Gtk.Button(label="press"))
win.connect("destroy", Gtk.main_quit)
win.connect("map-event", lambda w, event: GLib.timeout_add(100, close, w) and False)
win.show_all()
Gtk.main()
print("closed")
