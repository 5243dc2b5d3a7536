"""py_subprocess.py - children of the interpreter: pipes, status, errors, time-outs, fork."""
import os
import signal
import subprocess
import sys

print(subprocess.run(["tr", "a-z", "A-Z"], input="through tr", text=True, capture_output=True).stdout)
print(subprocess.run("echo out; echo err >&2; exit 7", shell=True, capture_output=True))
try:
    subprocess.run(["/no/such/program"])
except FileNotFoundError as e:
    print("FileNotFoundError", e.errno)
try:
    subprocess.run(["sleep", "20"], timeout=0.1)
except subprocess.TimeoutExpired:
    print("time-out")
print(subprocess.call(["sh", "-c", "kill -9 $$"]))
a = subprocess.Popen(["seq", "1", "2000"], stdout=subprocess.PIPE)
b = subprocess.Popen(["wc", "-l"], stdin=a.stdout, stdout=subprocess.PIPE)
a.stdout.close()
print(b.communicate()[0].split(), a.wait())
sys.stdout.flush()
pid = os.fork()
if pid == 0:
    os._exit(9)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGTERM)
