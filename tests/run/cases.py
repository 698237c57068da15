#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs real commands under the real `tcstack run`, which must not be noticed by them.

    cases.py list                      the names of the cases, one a line
    cases.py run NAME                  one case (exit 0 good, 1 not, 77 skipped: says why)

From the environment: TCS_TOOL, a built tcstack. A case is a function named case_...; its docstring is the sentence that
it proves. What is judged is a recorded machine, so that no toolkit is needed, except where a kernel is compiled.
"""
import json
import os
import pty
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPO = HERE.parent.parent
TOOL = os.environ.get("TCS_TOOL", "")
PYTHON = sys.executable


class Skip(Exception):
    """Why a case cannot be tried here."""


def facts_of(machine):
    return json.loads((REPO / "tests/machines" / f"{machine}.json").read_text())["facts"]


class World:
    """A scratch folder with a home of its own, and recorded machines in it."""

    def __init__(self, root):
        self.root = Path(root)
        self.home = self.root / "home"
        self.home.mkdir()
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(("TORCH_", "CUDA", "XDG_", "CMAKE_", "PIP_", "UV_", "VIRTUAL_ENV", "CONDA",
                                         "FORCE_CUDA", "MAX_JOBS", "NVCC", "PYTHON"))}
        self.env.update(HOME=str(self.home), TMPDIR=str(self.root), LC_ALL="C.UTF-8")
        self.good = self.root / "good.json"
        self.good.write_text(json.dumps(facts_of("201-driver-missing-near")))
        bad = facts_of("201-driver-missing-near")
        bad["torch"]["cuda"] = "11.8"
        self.bad = self.root / "bad.json"
        self.bad.write_text(json.dumps(bad))

    def words(self, *command, options=(), facts=None):
        return [TOOL, "run", "--targets", "8.6", "--set", f"FACTS={facts or self.good}", *options, "--", *command]

    def run(self, *command, options=(), facts=None, **how):
        how = {"env": self.env, "cwd": self.root, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 60,
               "stdin": subprocess.DEVNULL} | how
        if "input" in how:
            del how["stdin"]
        return subprocess.run(self.words(*command, options=options, facts=facts), **how)

    def direct(self, *command, **how):
        how = {"env": self.env, "cwd": self.root, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 60,
               "stdin": subprocess.DEVNULL} | how
        return subprocess.run(list(command), **how)

    def real(self, *command, options=(), **how):
        """As run(), but this machine is judged: for what nvcc compiles."""
        if shutil.which("nvcc", path=self.env["PATH"]) is None:
            raise Skip("there is no nvcc")
        how = {"env": self.env, "cwd": self.root, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 200,
               "stdin": subprocess.DEVNULL} | how
        return subprocess.run([TOOL, "run", "--targets", "8.6", "--allow", "TCS602", *options, "--", *command], **how)

    def script(self, name, text, mode=0o755):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path


QUIET = ("--quiet",)
VERIFY = ("--quiet", "--verify", "*.so")


def expect(what, got, wanted):
    if got != wanted:
        raise AssertionError(f"{what}: {got!r}, wanted {wanted!r}")


def holds(what, text, part):
    if isinstance(text, bytes):
        text = text.decode("utf-8", "backslashreplace")
    if part not in text:
        raise AssertionError(f"{what} lacks {part!r}:\n{text}")


def both_ways(world):
    """Replaced by the command, and waiting for it."""
    yield "exec", QUIET
    yield "wait", VERIFY


# --- exit status and signals


def case_exit_statuses_are_the_commands(world):
    """Every exit status from 0 to 255 comes through, with --verify those of a failure."""
    for code in range(256):
        expect("exit status", world.run("sh", "-c", f"exit {code}", options=QUIET).returncode, code)
        if code:
            expect("exit status with --verify", world.run("sh", "-c", f"exit {code}", options=VERIFY).returncode, code)


def case_a_command_killed_by_a_signal(world):
    """Who started tcstack sees the signal that the command died of."""
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGSEGV,
                   signal.SIGABRT, signal.SIGPIPE, signal.SIGUSR1, signal.SIGALRM):
        for way, options in both_ways(world):
            done = world.run("sh", "-c", f"ulimit -c 0; kill -{int(number)} $$", options=options)
            expect(f"{way}, {number.name}", done.returncode, -number)


def case_signals_reach_the_command(world):
    """A signal that is sent to tcstack alone reaches the command, which may live on: Ctrl-C's too, as kill -INT sends it."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT, signal.SIGQUIT,
                   signal.SIGTSTP):
        for way, options in both_ways(world):
            code = ("import signal,sys,os\n"
                    f"signal.signal({int(number)}, lambda *_: sys.exit(42))\n"
                    "print('ready', flush=True)\nwhile True: signal.pause()\n")
            child = subprocess.Popen(world.words(PYTHON, "-c", code, options=options), env=world.env, cwd=world.root,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            expect("first line", child.stdout.readline(), b"ready\n")
            child.send_signal(number)
            child.communicate(timeout=30)
            expect(f"{way}, {number.name}", child.returncode, 42)


def case_a_signal_kills_a_command_that_does_not_handle_it(world):
    """SIGTERM at tcstack ends command and tcstack, and no process is left."""
    for way, options in both_ways(world):
        child = subprocess.Popen(world.words("sh", "-c", "echo $$; exec sleep 100", options=options), env=world.env,
                                 cwd=world.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        pid = int(child.stdout.readline())
        child.terminate()
        child.communicate(timeout=30)
        expect(way, child.returncode, -signal.SIGTERM)
        if Path(f"/proc/{pid}").exists():
            raise AssertionError(f"{way}: {pid} lives on")


def case_a_signal_that_the_command_sends_its_group_comes_once(world):
    """`kill 0` of a build script is not sent back to it, and tcstack waits for what the script does then."""
    code = ("import os,signal,time\nseen = []\nsignal.signal(signal.SIGTERM, lambda *_: seen.append(1))\n"
            "os.killpg(0, signal.SIGTERM)\ntime.sleep(0.3)\nos._exit(40 + len(seen))\n")
    for way, options in both_ways(world):
        expect(way, world.run(PYTHON, "-c", code, options=options, start_new_session=True).returncode, 41)


def case_an_ignored_signal_stays_ignored(world):
    """Under nohup a hangup ends neither tcstack nor the command; where SIGCHLD is ignored its exit status comes through."""
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    for way, options in both_ways(world):
        child = subprocess.Popen(world.words("sh", "-c", "echo ready; read line; exit 9", options=options),
                                 env=world.env, cwd=world.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, preexec_fn=ignore)
        expect("first line", child.stdout.readline(), b"ready\n")
        child.send_signal(signal.SIGHUP)
        child.communicate(b"go on\n", timeout=30)
        expect(way, child.returncode, 9)


def in_terminal(argv, env, cwd, talk):
    """Starts argv with a terminal of its own; talk(master, seen) says what is typed. Exit status, all output."""
    pid, master = pty.fork()
    if pid == 0:
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):  # whatever this test was started with
            signal.signal(number, signal.SIG_DFL)
        try:
            os.chdir(cwd)
            os.execvpe(argv[0], argv, env)
        finally:
            os._exit(111)
    seen = b""
    steps = list(talk)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if steps and steps[0][0] in seen:
            os.write(master, steps.pop(0)[1])
        if not select.select([master], [], [], 1)[0]:
            continue
        try:
            more = os.read(master, 65536)
        except OSError:
            break
        if not more:
            break
        seen += more
    else:
        os.kill(pid, signal.SIGKILL)
    os.close(master)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen


def case_control_c_in_a_terminal(world):
    """Ctrl-C goes to the command, which decides; tcstack ends as the command did."""
    code = ("import os,signal,sys\ndef stop(*_):\n    os.write(1, b'stopping'); sys.exit(7)\nsignal.signal(signal.SIGINT, stop)\n"
            "print('ready', flush=True)\nwhile True: signal.pause()\n")
    # No shell: one that is about to start a program may lose a signal.
    plain = "import os,signal; signal.signal(signal.SIGINT, signal.SIG_DFL); os.write(1, b'ready'); signal.pause()"
    for way, options in both_ways(world):
        status, seen = in_terminal(world.words(PYTHON, "-c", code, options=options), world.env, world.root,
                                   [(b"ready", b"\x03")])
        expect(f"{way}: {seen}", status, 7)
        holds(way, seen, "stopping")
        status, seen = in_terminal(world.words(PYTHON, "-c", plain, options=options), world.env, world.root,
                                   [(b"ready", b"\x03")])
        expect(f"{way}: {seen}", status, -signal.SIGINT)


# A shell with job control, as short as it can be: starts its arguments in a group that has the terminal.
SHELL = r"""
import os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
pid = os.fork()
if pid == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    try:
        os.execvp(sys.argv[1], sys.argv[1:])
    finally:
        os._exit(111)
status = os.waitpid(pid, os.WUNTRACED)[1]
print('job stopped' if os.WIFSTOPPED(status) else f'job ended {status}', flush=True)
os.tcsetpgrp(0, pid)
os.killpg(pid, signal.SIGCONT)
status = os.waitpid(pid, 0)[1]
os.tcsetpgrp(0, os.getpgrp())
sys.exit(os.waitstatus_to_exitcode(status))
"""


def case_control_z_in_a_terminal(world):
    """Ctrl-Z stops the whole job, and the shell's fg has it go on."""
    for way, options in both_ways(world):
        argv = [PYTHON, "-c", SHELL, *world.words("sh", "-c", "echo ready; read x; exit 5", options=options)]
        status, seen = in_terminal(argv, world.env, world.root, [(b"ready", b"\x1a"), (b"job stopped", b"go\n")])
        expect(f"{way}: {seen}", status, 5)
        holds(way, seen, "job stopped")


# --- what the command sees


def case_the_command_takes_the_place_of_tcstack(world):
    """Without --verify the command has the process id that tcstack had."""
    child = subprocess.Popen(world.words("sh", "-c", "echo $$", options=QUIET), env=world.env, cwd=world.root,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, _ = child.communicate(timeout=30)
    expect("process id", int(out), child.pid)


def case_output_and_input_are_not_touched(world):
    """Bytes of standard input, output and error pass as they are, and nothing of tcstack's is among the output."""
    data = bytes(range(256)) * 8192
    for way, options in both_ways(world):
        done = world.run("sh", "-c", "cat; exit 1", options=options, input=data)
        if done.stdout != data:
            raise AssertionError(f"{way}: {len(done.stdout)} bytes came of {len(data)}")
        done = world.run("sh", "-c", "cat >&2; exit 1", options=options, input=data)
        if data not in done.stderr:
            raise AssertionError(f"{way}: standard error is another")
    expect("standard error, quiet", world.run("sh", "-c", "echo x >&2", options=QUIET).stderr, b"x\n")
    expect("standard output", world.run("echo", "x").stdout, b"x\n")


def case_arguments_are_not_touched(world):
    """Empty arguments, newlines, quotes, options of tcstack's own, a second -- and huge lists arrive as they are."""
    show = "import sys; sys.stdout.buffer.write(b'\\0'.join(map(__import__('os').fsencode, sys.argv[1:]))); sys.exit(3)"
    several = [["", "a b", "c\nd", "'\"$(x)`;*?", "--", "--targets", "9.0", "--help", "-DX=1", "\u00e9\u4e16", ""],
               [f"argument number {n}" for n in range(20000)], ["x" * 100000], ["a\udcff"]]
    for way, options in both_ways(world):
        for arguments in several:
            done = world.run(PYTHON, "-c", show, *arguments, options=options)
            expect(f"{way}: status", done.returncode, 3)
            if done.stdout != b"\0".join(map(os.fsencode, arguments)):
                raise AssertionError(f"{way}: {done.stdout[:200]!r} of {arguments[:12]!r}")


def case_the_environment_is_ours_and_what_is_listed(world):
    """The command has every variable that tcstack had, byte for byte, and beside them those that --dry-run lists."""
    world.env.update(NEW_LINE="a\nb=c", EMPTY="", QUOTES="'\"$x", BYTES="\udcff")
    show = "import os,sys; sys.stdout.buffer.write(b'\\0'.join(k+b'='+v for k,v in os.environb.items())); sys.exit(3)"
    listed = set()
    for line in world.run("x", options=("--dry-run",)).stdout.decode("utf-8", "replace").splitlines():
        name, equals, _ = line.strip().partition("=")
        if equals and name.isidentifier():
            listed.add(name.encode())
    ours = {os.fsencode(k): os.fsencode(v) for k, v in world.env.items()}
    for way, options in both_ways(world):
        done = world.run(PYTHON, "-c", show, options=options)
        seen = dict(entry.split(b"=", 1) for entry in done.stdout.split(b"\0"))
        for name, value in ours.items():
            if name not in listed:
                expect(f"{way}: {name!r}", seen.get(name), value)
        more = set(seen) - set(ours) - {b"LC_CTYPE"}
        expect(f"{way}: variables that are not listed", more - listed, set())
        expect(f"{way}: the plan", seen[b"TORCH_CUDA_ARCH_LIST"], b"8.6")


def case_the_users_own_values_stay(world):
    """A list that the user set stays, is what is judged, and is called theirs."""
    world.env["TORCH_CUDA_ARCH_LIST"] = "8.0;8.6"
    done = world.run("sh", "-c", "echo $TORCH_CUDA_ARCH_LIST")
    expect("list", done.stdout, b"8.0;8.6\n")
    holds("what was said", done.stderr, "TORCH_CUDA_ARCH_LIST=8.0;8.6   # yours")


def case_an_option_counts_over_the_environment(world):
    """--arch-list is the user's word on this command: the environment's list does not reach it."""
    world.env["TORCH_CUDA_ARCH_LIST"] = "8.0"
    done = world.run("sh", "-c", "echo $TORCH_CUDA_ARCH_LIST", options=("--arch-list", "8.6"))
    expect("list", done.stdout, b"8.6\n")
    # Lines of `plan --emit env` for another list, read before, do not come through either.
    world.env.update(FLASH_ATTN_CUDA_ARCHS="90", CMAKE_ARGS="-DCMAKE_CUDA_ARCHITECTURES=90-real -DX=Y")
    done = world.run("sh", "-c", "echo $FLASH_ATTN_CUDA_ARCHS $CMAKE_ARGS", options=("--arch-list", "8.6"))
    holds("flash-attn's list", done.stdout, "80 -DCMAKE_CUDA_ARCHITECTURES=86-real ")
    expect("CMAKE_ARGS", (done.stdout.count(b"ARCHITECTURES="), done.stdout.endswith(b" -DX=Y\n")), (1, True))


def case_a_number_of_jobs_that_is_none_stays(world):
    """MAX_JOBS=0 is the user's, is shown as theirs, and is not taken for a number of jobs elsewhere."""
    done = world.real("true", options=("--dry-run",), env=world.env | {"MAX_JOBS": "0"})
    holds("said", done.stdout, "MAX_JOBS=0   # yours")
    holds("said", done.stdout, "CMAKE_BUILD_PARALLEL_LEVEL=")
    if b"CMAKE_BUILD_PARALLEL_LEVEL=0" in done.stdout:
        raise AssertionError(done.stdout.decode())


def case_words_of_the_user_that_beat_the_plan_are_said(world):
    """An entry in the user's CMAKE_ARGS that is not the plan's is named, and one that is the same is not given twice."""
    done = world.run("sh", "-c", "echo $CMAKE_ARGS",
                     env=world.env | {"CMAKE_ARGS": "-DCMAKE_CUDA_ARCHITECTURES:STRING=75 -DTORCH_CUDA_ARCH_LIST=8.6 -DX=1"})
    holds("said", done.stderr, "note: CMAKE_CUDA_ARCHITECTURES stays as your CMAKE_ARGS has it: -DCMAKE_CUDA_ARCHITECTURES:STRING=75")
    expect("given", done.stdout.count(b"-DTORCH_CUDA_ARCH_LIST=8.6"), 1)
    if b"note: TORCH_CUDA_ARCH_LIST" in done.stderr or not done.stdout.endswith(b"-DX=1\n"):
        raise AssertionError(f"{done.stdout}\n{done.stderr}")
    done = world.run("true", env=world.env | {"CC": "ccache gcc"})
    holds("said", done.stderr, "CC=ccache gcc is yours and stays")


def case_relative_names_are_of_the_callers_folder(world):
    """A toolkit and a recorded machine that are named relative to the current folder are those for the build, wherever that goes."""
    done = world.run("sh", "-c", "echo $TORCH_CUDA_STACK_FACTS", facts="good.json", options=QUIET)
    expect("facts", done.stdout.decode(), f"{world.good}\n")
    nvcc = shutil.which("nvcc", path=world.env["PATH"])
    if nvcc is None:
        raise Skip("there is no nvcc")
    (world.root / "tk").symlink_to(Path(nvcc).parent.parent)
    env = {k: v for k, v in world.env.items() if k != "CUDACXX"}
    for options, change in ((("-DTorchCudaStack_TOOLKIT=tk",), {}), ((), {"CUDA_HOME": "tk"})):
        done = world.real("sh", "-c", "cd /; $CUDACXX --version", options=(*QUIET, *options), env=env | change)
        expect(f"{options} {change}: {done.stderr}", done.returncode, 0)
        holds("nvcc", done.stdout, "Cuda compiler driver")
        if b"not judged" in done.stderr:
            raise AssertionError(f"it was not tried:\n{done.stderr.decode()}")


def case_a_folder_without_a_gate_is_refused(world):
    """TORCH_CUDA_STACK_MODULES that names no gate is bad input, not a build without one."""
    done = world.run("echo", "ran", env=world.env | {"TORCH_CUDA_STACK_MODULES": "/nowhere"})
    expect("status", (done.returncode, done.stdout), (2, b""))
    holds("said", done.stderr, "TORCH_CUDA_STACK_MODULES (environment): /nowhere holds no TorchCudaStackGate.cmake")


def case_a_python_that_is_named_in_vain_is_said(world):
    """Where --python of uv, or conda's environment, is not here, what was checked is another Python's, and a note says so."""
    for command, name in ((("uv", "pip", "install", "--python", "3.99", "x"), "--python"),
                          (("conda", "run", "-n", "nowhere", "pip"), "conda's environment nowhere")):
        done = world.run(*command, options=("--dry-run",))
        holds("said", done.stdout, f"note: the Python of {name} is not here; the one that was checked is another")


def case_signals_and_descriptors_are_those_of_a_direct_start(world):
    """Ignored, caught and blocked signals, open descriptors, limits and the umask are what they would be without us."""
    shows = (("grep", "-E", "^(Sig(Blk|Ign|Cgt)|Umask)", "/proc/self/status"), ("ls", "/proc/self/fd"))  # no shell's own

    def odd():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGWINCH])
        os.umask(0o27)

    for how in ({}, {"restore_signals": False}, {"preexec_fn": odd}):
        for show in shows:
            wanted = world.direct(*show, **how).stdout
            for way, options in both_ways(world):
                expect(f"{way}, {how}", world.run(*show, options=options, **how).stdout, wanted)
    read_end, write_end = os.pipe()
    for way, options in both_ways(world):
        world.run("sh", "-c", f"echo kept >&{write_end}; exit 3", options=options, pass_fds=(write_end,))
        expect(f"{way}: a descriptor that was handed on", os.read(read_end, 100), b"kept\n")


def case_the_folder_is_the_callers(world):
    """The command is started in the folder that tcstack was started in."""
    (world.root / "a b").mkdir()
    for way, options in both_ways(world):
        done = world.run("sh", "-c", "pwd; exit 3", options=options, cwd=world.root / "a b")
        expect(way, done.stdout, os.fsencode(world.root / "a b") + b"\n")


def case_commands_that_cannot_be_started(world):
    """127 for what is not found, 126 for what cannot be run, as shells have it; a script without #! is the shell's."""
    world.script("plain.txt", "no program\n", mode=0o644)
    world.script("lost", "#!/nowhere/python\n")
    world.script("shell", "exit 4\n")
    for way, options in both_ways(world):
        for command, status in (("no-such-command", 127), ("./no-such-file", 127), ("/tmp", 126), ("./plain.txt", 126),
                                ("./lost", 127), ("./shell", 4)):
            done = world.run(command, options=options)
            expect(f"{way}: {command}", done.returncode, status)
            if status != 4:
                holds(way, done.stderr, f"tcstack run: {command}: ")


# --- what is refused


def case_a_refusal_starts_nothing(world):
    """What cannot work ends with its findings, exit status 1 and a last line that says so; the command is not started."""
    for options in ((), ("--quiet",), ("--verify", "*"), ("--dry-run",)):
        done = world.run("touch", "made", options=options, facts=world.bad)
        expect("status", done.returncode, 1)
        holds("findings", done.stderr, "error[TCS")
        expect("last line", done.stderr.splitlines()[-1], b"tcstack run: the command was not started")
        expect("output", done.stdout, b"")
        expect("the command ran", (world.root / "made").exists(), False)


def case_what_is_allowed_or_never_fails_is_run(world):
    """--fail-on never has the command run, with the findings before it."""
    done = world.run("echo", "on", options=("--fail-on", "never"), facts=world.bad)
    expect("status", done.returncode, 0)
    expect("output", done.stdout, b"on\n")
    holds("findings", done.stderr, "error[TCS")


def case_an_empty_plan_is_refused_whatever_is_allowed(world):
    """Where nothing is to be built the command would make up a list of its own."""
    done = world.run("echo", "on", options=("--fail-on", "never", "--arch-list", "99.9"))
    expect("status", done.returncode, 1)
    expect("output", done.stdout, b"")
    holds("last line", done.stderr.splitlines()[-1], "the plan is empty: the command was not started")


def case_usage_errors(world):
    """Without --, without a command, with an unknown option: exit status 2 and what is wrong."""
    for words, text in (((), "there is no command"), (("--",), "there is no command"), (("--", ""), "there is no command"),
                        (("pip", "install", "x"), "the command comes after --"),
                        (("--tragets", "8.6", "--", "true"), "did you mean --targets"),
                        (("--targets", "--", "true"), "--targets needs a value"),
                        (("--verify", "", "--", "true"), "--verify needs a value (GLOB), not an empty one"),
                        (("--set", "NO_SUCH=1", "--", "true"), "there is no input 'NO_SUCH'"),
                        (("--set", "CACHE_DIR=here", "--", "true"), "is no absolute path")):
        done = subprocess.run([TOOL, "run", *words], env=world.env, cwd=world.root, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60)
        expect(f"{words}: {done.stderr}", done.returncode, 2)
        holds(str(words), done.stderr, text)
        expect("output", done.stdout, b"")


def case_a_dry_run_runs_nothing(world):
    """--dry-run prints on standard output what would be set, and starts nothing."""
    done = world.run("touch", "made", options=("--dry-run",))
    expect("status", done.returncode, 0)
    holds("output", done.stdout, "TORCH_CUDA_ARCH_LIST=8.6   # ")
    expect("the command ran", (world.root / "made").exists(), False)


def case_no_folder_is_left(world):
    """Its own folder below the cache is gone when the command starts, and after --verify; runs at the same time do not meet."""
    left = world.home / ".cache/torch-cuda-stack/run"
    several = [subprocess.Popen(world.words("sh", "-c", f"ls {left}; exit 3", options=options), env=world.env,
                                cwd=world.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
               for _ in range(6) for _, options in both_ways(world)]
    for child in several:
        child.communicate(timeout=60)
        expect("status", child.returncode, 3)
    expect("left", list(left.iterdir()), [])


def case_a_home_that_cannot_be_written(world):
    """Without a cache it works in a folder below TMPDIR."""
    world.env["HOME"] = "/proc/nothing"
    expect("status", world.run("sh", "-c", "exit 6", options=QUIET).returncode, 6)
    world.env["TORCH_CUDA_STACK_CACHE_DIR"] = "OFF"
    expect("status, OFF", world.run("sh", "-c", "exit 6", options=QUIET).returncode, 6)


# --- whose PyTorch


def case_the_python_of_the_command_is_judged(world):
    """That of a script's first line, of pip's longer form, of env, of a named interpreter; not the first in PATH."""
    venv = world.root / "venv with blank"
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(venv)], check=True, env=world.env)
    python = venv / "bin/python"
    short = world.root / "short"
    short.symlink_to(venv)
    world.script("bin/pip", f"#!{short}/bin/python\nprint('x')\n")
    world.script("bin/long", f"#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\nprint('x')\n")
    world.script("bin/by-env", "#!/usr/bin/env python\nprint('x')\n")
    path = f"{world.root}/bin:{world.env['PATH']}"
    for command, change, wanted in (
            (("pip", "install", "--no-build-isolation", "x"), {}, "the first line of"),
            (("long",), {}, "the first line of"),
            (("by-env",), {"PATH": f"{venv}/bin:{path}"}, "the first line of"),
            ((str(python), "-m", "pip", "install", "x"), {}, "the command"),
            (("./short/bin/python", "x.py"), {}, "the command"),
            (("uv", "pip", "install", "--python", str(venv), "x"), {}, "--python")):
        done = world.real(*command, options=("--dry-run",), env=world.env | {"PATH": path} | change)
        expect(f"{command}: {done.stderr}", done.returncode, 0)
        lines = [line for line in done.stdout.decode().splitlines() if "checked for" in line]
        if not lines or not any(f"checked for {p}/bin/python" in lines[0] for p in (venv, short)):
            raise AssertionError(f"{command}: {lines}")
        holds(str(command), lines[0], wanted)


def case_python_executable_counts_over_the_command(world):
    """-DPython_EXECUTABLE is the user's word."""
    venv = world.root / "venv"
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(venv)], check=True, env=world.env)
    done = world.real(PYTHON, "x.py", options=("--dry-run", f"-DPython_EXECUTABLE={venv}/bin/python"))
    holds("said", done.stdout, f"checked for {venv}/bin/python (Python_EXECUTABLE)")
    for name in ("Python_EXECUTABLE", "Python3_EXECUTABLE:FILEPATH", "PYTHON_EXECUTABLE"):
        done = world.real("cmake", f"-D{name}={venv}/bin/python", ".", options=("--dry-run",))
        holds(name, done.stdout, f"checked for {venv}/bin/python (Python_EXECUTABLE)")


def case_an_isolated_build_is_told(world):
    """pip and uv that build in an environment of their own get a warning with the option, and are run."""
    world.script("bin/pip", "#!/bin/sh\necho ran\n")
    env = world.env | {"PATH": f"{world.root}/bin:{world.env['PATH']}"}
    done = world.run("pip", "install", "x", env=env)
    expect("output", done.stdout, b"ran\n")
    holds("said", done.stderr, "to build with this one: --no-build-isolation")
    for words, change in ((("install", "--no-build-isolation", "x"), {}), (("list",), {}),
                          (("install", "x"), {"PIP_NO_BUILD_ISOLATION": "0"})):
        done = world.run("pip", *words, env=env | change)
        if b"isolation" in done.stderr:
            raise AssertionError(done.stderr)


# --- CMake


def case_a_cmake_that_configures_runs_the_gate(world):
    """A project that nobody edits is configured under the plan: its CUDA sources are compiled for it, and the checks run."""
    project = world.root / "p"
    world.script("p/CMakeLists.txt", "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX CUDA)\n"
                 "add_library(k SHARED k.cu)\n")
    world.script("p/k.cu", "__global__ void k(int* p) { *p = 1; }\n")
    cmake = shutil.which("cmake", path=world.env["PATH"])
    if cmake is None or shutil.which("ninja", path=world.env["PATH"]) is None:
        raise Skip("there is no cmake or no ninja")
    configure = (cmake, "-S", str(project), "-B", "b", "-G", "Ninja", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    done = world.real(*configure)
    expect(f"{done.stdout}{done.stderr}", done.returncode, 0)
    holds("the gate's line", done.stdout, "TorchCudaStack: 8.6")
    commands = json.loads((world.root / "b/compile_commands.json").read_text())
    holds("compile command", commands[0]["command"], "sm_86")
    done = world.real(cmake, "--build", "b", options=("--verify", "b/*.so"))
    expect(f"{done.stdout}{done.stderr}", done.returncode, 0)
    holds("verified", done.stderr, "libk.so: 1 fat binary")
    # Another plan in the same folder: nothing of the first one is left.
    done = subprocess.run([TOOL, "run", "--targets", "9.0", "--allow", "TCS602", "--", *configure], env=world.env,
                          cwd=world.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=200)
    expect(f"{done.stdout}{done.stderr}", done.returncode, 0)
    commands = json.loads((world.root / "b/compile_commands.json").read_text())
    holds("compile command", commands[0]["command"], "sm_90")
    if "sm_86" in commands[0]["command"]:
        raise AssertionError(commands)
    # The user's own word wins, is judged, and the build that it leads to is theirs.
    done = world.real(*configure, "--fresh", "-DCMAKE_CUDA_ARCHITECTURES=75-real")
    expect(f"{done.stderr}", done.returncode, 1)
    holds("a list that does not serve the target", done.stderr, "the command was not started")


# --- what was built


def compiled(world, name, arch, cudart="none"):
    """A shared library with one kernel for one architecture."""
    source = world.root / "kernel.cu"
    source.write_text('extern "C" __global__ void k(int* p) { *p = 1; }\n')
    if shutil.which("nvcc", path=world.env["PATH"]) is None:
        raise Skip("there is no nvcc")
    out = world.root / name
    out.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["nvcc", "-shared", "-cudart", cudart, f"-gencode=arch=compute_{arch[3:]},code={arch}", "-Xcompiler", "-fPIC", "-o", str(out), str(source)],
                   check=True, env=world.env, timeout=200)
    return out


def case_what_was_built_is_verified(world):
    """A library that holds the plan's images passes; one for another architecture fails and is named."""
    good, other = compiled(world, "store/good", "sm_86"), compiled(world, "store/other", "sm_80")
    (world.root / "out/deep").mkdir(parents=True)
    copy = ["cp", str(good), "out/deep/k.so"]
    for pattern in ("out/deep/k.so", "out/*/k.so", "out/**/*.so", "**/[k].s?", str(world.root) + "/out/d*/*.so"):
        done = world.run(*copy, options=("--verify", pattern))
        expect(f"{pattern}: {done.stderr}", done.returncode, 0)
        holds(pattern, done.stderr, "verified: every fat binary holds sm_86\n")
        holds(pattern, done.stderr, "out/deep/k.so: 1 fat binary\n")
    done = world.run("cp", str(other), "out/deep/k.so", options=("--verify", "out/**/*.so"))
    expect("another architecture", done.returncode, 1)
    holds("another architecture", done.stderr, "out/deep/k.so: 1 of 1 fat binary lacks sm_86 (there: sm_80)")


def case_wheels_are_opened(world):
    """Every library in a wheel that was built is verified, and named by its path in it."""
    world.script("pack.py", "import sys,zipfile\n"
                 "with zipfile.ZipFile('dist/x-1-py3-none-any.whl', 'w', zipfile.ZIP_DEFLATED) as z:\n"
                 "    for name in sys.argv[1:]:\n        z.write(name, 'x/' + name.split('/')[-1] + '.so')\n"
                 "    z.writestr('x/__init__.py', '')\n")
    (world.root / "dist").mkdir()
    good, other = compiled(world, "store/good", "sm_86"), compiled(world, "store/other", "sm_80")
    facts = json.loads(world.good.read_text())
    facts["python"] = {"state": "found", "executable": PYTHON, "version": "3.11.2", "kind": "venv"}
    world.good.write_text(json.dumps(facts))
    done = world.run(PYTHON, "pack.py", str(good), options=("--verify", "dist/*.whl"))
    expect(f"{done.stderr}", done.returncode, 0)
    holds("verified", done.stderr, "dist/x-1-py3-none-any.whl: x/good.so: 1 fat binary\n")
    done = world.run(PYTHON, "pack.py", str(good), str(other), options=("--verify", "dist/*.whl"))
    expect("one of two", done.returncode, 1)
    holds("one of two", done.stderr, "x-1-py3-none-any.whl: x/other.so: 1 of 1 fat binary lacks sm_86")
    if b"wheel-" in done.stderr:
        raise AssertionError("the folder it was unpacked in is shown")
    (world.root / "zipfile.py").write_text("raise SystemExit('the project has a module of that name')\n")
    world.script("pack.py", "import os,sys\nsys.path = [p for p in sys.path if p != os.getcwd()]\nimport zipfile\n"
                 "with zipfile.ZipFile('dist/hidden.whl', 'w') as z:\n    z.write(sys.argv[1], 'x/.libs/h.so')\n")
    done = world.run(PYTHON, "pack.py", str(other), options=("--verify", "dist/hidden.whl"))
    expect(f"a folder that begins with a dot: {done.stderr}", done.returncode, 1)
    holds("a folder that begins with a dot", done.stderr, "hidden.whl: x/.libs/h.so: 1 of 1 fat binary lacks sm_86")
    (world.root / "dist/broken.whl").write_text("no zip")
    done = world.run("true", options=("--verify", "dist/broken.whl"))
    expect("no zip", done.returncode, 1)
    holds("no zip", done.stderr, f"broken.whl: could not be unpacked by {PYTHON}: exit status 1")


def case_a_library_for_another_cuda_fails(world):
    """What needs the CUDA runtime of another major than PyTorch loads does not hold, whatever its images are."""
    other = compiled(world, "store/other", "sm_86", cudart="shared")
    facts = json.loads(world.good.read_text())
    facts["libraries"] = [{"soname": "libcudart.so.99", "state": "found", "needed_by": "libtorch_cuda.so"}]
    world.good.write_text(json.dumps(facts))
    done = world.run("cp", str(other), "k.so", options=("--verify", "k.so", "--fail-on", "never"))
    expect(f"{done.stderr}", done.returncode, 1)
    holds("why", done.stderr, "loads libcudart.so.99")


def case_nothing_to_verify_is_a_failure(world):
    """A pattern without a file, and files without device code, fail; text beside a library does not."""
    done = world.run("true", options=("--verify", "out/*.so"))
    expect("no file", done.returncode, 1)
    holds("no file", done.stderr, "'out/*.so' names no file")
    shutil.copy(PYTHON, world.root / "plain.so")
    done = world.run("true", options=("--verify", "plain.so"))
    expect("no device code", done.returncode, 1)
    holds("no device code", done.stderr, "plain.so: no device code")
    good = compiled(world, "store/good", "sm_86")
    world.script("beside.py", "x = 1\n")
    done = world.run("cp", str(good), "k.so", options=("--verify", "*.so", "--verify", "beside.py", "--verify", "k.so"))
    expect(f"one of two: {done.stderr}", done.returncode, 0)
    holds("one of two", done.stderr, "plain.so: no device code")


def case_a_file_that_was_there_before_is_said(world):
    """A library that the command did not touch is verified all the same, with a note; one of the same time in its place has none."""
    good = compiled(world, "old.so", "sm_86")
    os.utime(good, (1, 1))
    (world.root / "notes.txt").write_text("beside it\n")
    done = world.run("true", options=("--verify", "*"))
    expect("status", done.returncode, 0)
    holds("note", done.stderr, "old.so was there before the command")
    if b"notes.txt" in done.stderr:
        raise AssertionError(f"text is none of it:\n{done.stderr.decode()}")
    done = world.run("sh", "-c", "cp -p old.so new && mv new old.so", options=("--verify", "old.so"))
    expect("status", done.returncode, 0)
    if b"before the command" in done.stderr:
        raise AssertionError(f"it is another file:\n{done.stderr.decode()}")
    for n in range(9):
        shutil.copy(good, world.root / f"k{n}.so")
    done = world.run("true", options=("--verify", "k*.so"))
    holds("many", done.stderr, "note: 4 more were there before the command")


def case_a_pattern_that_names_no_file_says_why(world):
    """A folder, a dangling link, what is no regular file, and a folder that cannot be read are told from what is not there."""
    (world.root / "out").mkdir()
    (world.root / "link.so").symlink_to("nowhere")
    (world.root / "loop.so").symlink_to("loop.so")
    os.mkfifo(world.root / "fifo.so")
    for pattern, why in (("out", "'out' is a folder; all that is in it: 'out/**'"), ("fifo.so", "'fifo.so' is no regular file"),
                         ("link.so", "'link.so' is a link to nothing"), ("loop.so", "loop.so: Too many levels of symbolic links"),
                         ("no.so", "'no.so' names no file, here or in the packages of")):
        done = world.run("true", options=("--verify", pattern))
        expect(pattern, done.returncode, 1)
        holds(pattern, done.stderr, why)


def case_patterns_name_what_a_person_means(world):
    """`**` at the end is all below a folder, and a file whose name has brackets is found by its name."""
    good = compiled(world, "store/good", "sm_86")
    (world.root / "out/deep").mkdir(parents=True)
    (world.root / "out/deep/readme").write_text("text\n")
    for pattern, name in (("out/**", "out/deep/k.so"), ("./out//deep/*", "out/deep/k.so"), ("k[1].so", "k[1].so")):
        done = world.run("cp", str(good), name, options=("--verify", pattern))
        expect(f"{pattern}: {done.stderr}", done.returncode, 0)
        holds(pattern, done.stderr, f"{world.root}/{name}: 1 fat binary")


def pytorch_tree(world, cached=None):
    """Of PyTorch's tree what is read of it, and a build folder with a list in its cache."""
    for folder in ("aten", "c10", "torch"):
        (world.root / "pt" / folder).mkdir(parents=True)
    world.script("pt/version.txt", "2.6.0\n")
    world.script("pt/setup.py", "print('built')\n")
    world.script("pt/CMakeLists.txt", "project(Torch)\n")
    world.script("pt/cmake/Dependencies.cmake", "")
    world.script("pt/cmake/public/cuda.cmake", 'if(CUDA_VERSION VERSION_LESS 11.0)\n  message(FATAL_ERROR "no")\nendif()\n')
    if cached:
        world.script("pt/build/CMakeCache.txt", f"TORCH_CUDA_ARCH_LIST:UNINITIALIZED={cached}\n")
    return world.root / "pt"


def case_pytorch_itself_is_built_for_what_is_asked(world):
    """In PyTorch's tree the wheel's GPUs are told; a build folder of another list stops it, and is no matter when anew."""
    tree = pytorch_tree(world, "9.0")
    done = world.real(PYTHON, "setup.py", "bdist_wheel", cwd=tree)
    expect(f"status: {done.stderr}", (done.returncode, done.stdout), (1, b""))
    holds("said", done.stderr, "error[TCS924 tree-keeps-other-list]")
    holds("said", done.stderr, "the command was not started")
    done = world.real(PYTHON, "setup.py", "bdist_wheel", "--cmake", cwd=tree)
    expect(f"status: {done.stderr}", (done.returncode, done.stdout), (0, b"built\n"))
    holds("said", done.stderr, "This PyTorch will be of sm_86")
    (tree / "build/CMakeCache.txt").write_text("TORCH_CUDA_ARCH_LIST:UNINITIALIZED=sm_86 8.6\n")
    done = world.real(PYTHON, "-c", "print('built')", str(tree))
    expect(f"the same list, from outside: {done.stderr}", (done.returncode, done.stdout), (0, b"built\n"))
    holds("said", done.stderr, "This PyTorch will be of sm_86")
    done = world.real(PYTHON, "setup.py", "bdist_wheel", cwd=tree, options=("--purpose", "extension"))
    if b"This PyTorch" in done.stderr:
        raise AssertionError(f"the purpose is the user's:\n{done.stderr.decode()}")


def case_the_gate_finds_a_stale_list_in_pytorchs_tree(world):
    """A list of the environment that CMake's cache hides stops the configure; one of -D, and none, do not."""
    cmake = shutil.which("cmake", path=world.env["PATH"])
    if cmake is None or shutil.which("nvcc", path=world.env["PATH"]) is None:
        raise Skip("there is no cmake or no nvcc")
    tree = pytorch_tree(world)
    world.script("pt/CMakeLists.txt", "cmake_minimum_required(VERSION 3.18)\nproject(Torch LANGUAGES NONE)\n")
    gate = f"-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES={REPO}/modules/TorchCudaStackGate.cmake"

    def configure(wanted, *words, arch_list=None):
        env = world.env | {"TORCH_CUDA_STACK_TOOL": TOOL} | ({"TORCH_CUDA_ARCH_LIST": arch_list} if arch_list else {})
        done = world.direct(cmake, "-S", str(tree), "-B", "b", gate, *words, env=env)
        if (done.returncode == 0) != wanted:
            raise AssertionError(f"{words} {arch_list}: {done.stdout.decode()}{done.stderr.decode()}")
        return done.stderr

    configure(True, "-DTORCH_CUDA_ARCH_LIST=8.6")
    configure(True)
    configure(True, arch_list="sm_86")
    holds("said", configure(False, arch_list="9.0"), "TCS924")
    configure(True, "-DTORCH_CUDA_ARCH_LIST=9.0", arch_list="9.0")
    configure(True, arch_list="9.0")
    holds("said", configure(False, arch_list="9.0+PTX"), "TCS924")
    shutil.rmtree(world.root / "b")
    configure(True, arch_list="8.6")
    configure(True, arch_list="9.0")  # the gate's own choice is in no cache


def case_a_real_plan_and_a_real_compiler(world):
    """This machine judged, nvcc started under the plan by a build that reads TORCH_CUDA_ARCH_LIST, the result verified."""
    (world.root / "kernel.cu").write_text('extern "C" __global__ void k(int* p) { *p = 1; }\n')
    build = 'nvcc -shared -cudart none -arch=sm_$(echo "$TORCH_CUDA_ARCH_LIST" | tr -d .) -Xcompiler -fPIC -o k.so kernel.cu'
    done = world.real("sh", "-c", build, options=("--verify", "k.so"))
    expect(f"{done.stderr}", done.returncode, 0)
    holds("verified", done.stderr, "verified: every fat binary holds sm_86\n")


# --- the rest


def cases():
    return {name[5:]: function for name, function in globals().items() if name.startswith("case_")}


def main(argv):
    if argv[1:] == ["list"]:
        print("\n".join(cases()))
        return 0
    if not os.access(TOOL, os.X_OK):
        print("TCS_TOOL names no tcstack")
        return 1
    function = cases()[argv[2]]
    print(function.__doc__)
    with tempfile.TemporaryDirectory(prefix="tcs-run-") as root:
        try:
            function(World(os.path.realpath(root)))
        except Skip as why:
            print(f"skipped: {why}")
            return 77
        except AssertionError as error:
            print(f"FAILED: {error}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
