"""printers.py - what libraries bring along to show their values: libstdc++'s vectors and strings, for example.

SPDX-License-Identifier: MIT

The build puts this into drdebug.py (gdb/embed.py). GDB looks for a library's script by its path, and takes the one below its own
data directory. In a recording the path begins with `target:`, where there is none; so the file of that name on this machine is
looked for. What is read is installed here in any case: a recording only says which of these scripts.
"""
TARGET = "target:"


class Here:
    """A library as its script knows it: by the path that it has on this machine."""

    def __init__(self, objfile, filename):
        self.__dict__.update(objfile=objfile, filename=filename)

    def __getattr__(self, name):
        return getattr(self.objfile, name)

    def __setattr__(self, name, value):
        setattr(self.objfile, name, value)


def load_printers(event):
    """Of a library that was just read: its script, as GDB itself would have read it."""
    objfile = event.new_objfile
    name = objfile.filename or ""
    if not name.startswith(TARGET) or not gdb.parameter("auto-load python-scripts"):
        return
    path = os.path.realpath(name[len(TARGET):])
    script = f"{gdb.parameter('data-directory')}/auto-load{path}-gdb.py"
    if not os.path.isfile(script):
        return
    own = gdb.current_objfile
    gdb.current_objfile = lambda: Here(objfile, path)
    try:
        with open(script, encoding="utf-8") as file:
            exec(compile(file.read(), script, "exec"), {"__name__": "__main__", "__file__": script})
    except Exception as error:  # whatever is installed here: the session goes on without it
        gdb.write(f"drdebug: {plain_lines(script)}: {plain_lines(error)}\n", gdb.STDERR)
    finally:
        gdb.current_objfile = own
