// SPDX-License-Identifier: Apache-2.0
#include "full/foreground.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "host/child.h"

extern char** environ;

namespace tcs {

namespace {

// Signals whose disposition this process changes somewhere: for itself, never for the command.
constexpr int changed_signals[] = {SIGPIPE, SIGXFSZ, SIGCHLD, SIGINT,  SIGQUIT,
                                   SIGTSTP, SIGTERM, SIGHUP,  SIGUSR1, SIGUSR2};
constexpr int forwarded_signals[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGINT, SIGQUIT, SIGTSTP};

// As they were when this process was started: taken before main(), which ignores SIGPIPE.
struct SignalsAtStart {
  struct sigaction action[sizeof changed_signals / sizeof changed_signals[0]];
  sigset_t mask;
  SignalsAtStart() {
    struct sigaction* at = action;
    for (int signal : changed_signals) sigaction(signal, nullptr, at++);
    sigprocmask(SIG_SETMASK, nullptr, &mask);
  }
  void restore() const {
    const struct sigaction* at = action;
    for (int signal : changed_signals) sigaction(signal, at++, nullptr);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
  }
} const at_start;

volatile pid_t command_pid = -1;

// What the terminal sends goes to the whole group, the command included; what the command sends to
// its group it has seen itself.
void forward(int signal, siginfo_t* info, void*) {
  const int error = errno;
  if (info->si_code <= 0 && command_pid > 0 && info->si_pid != command_pid)
    kill(command_pid, signal);
  errno = error;
}

void set_action(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(signal, &action, nullptr);
}

// While the command has the terminal. SIGTSTP stops the command; we stop when it has.
void stand_back() {
  struct sigaction action {};
  action.sa_sigaction = forward;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (int signal : forwarded_signals) sigaction(signal, &action, nullptr);
}

// Returns errno. The command is looked up in the PATH that it is given.
int become(const Command& command) {
  List<std::string> args = command.argv, lines = child_environment(command);
  List<char*> argv, env;
  for (std::string& arg : args) argv.push_back(&arg[0]);
  for (std::string& line : lines) env.push_back(&line[0]);
  argv.push_back(nullptr);
  env.push_back(nullptr);
  char** own = environ;
  environ = env.begin();
  at_start.restore();
  execvp(argv[0], argv.begin());
  const int error = errno;
  environ = own;
  set_action(SIGPIPE, SIG_IGN);
  return error;
}

Outcome not_started(int error) {
  Outcome out;
  out.code = error;
  out.why = std::strerror(error);
  return out;
}

int wait_for(pid_t pid) {
  int status = 0;
  for (;;) {
    const pid_t got = waitpid(pid, &status, WUNTRACED);
    if (got < 0 && errno != EINTR) return W_EXITCODE(3, 0);  // how it ended cannot be known
    if (got != pid) continue;
    if (!WIFSTOPPED(status)) return status;
    kill(getpid(), SIGSTOP);  // for the shell, whose job we are
    kill(pid, SIGCONT);
  }
}

}  // namespace

Outcome run_foreground(const Command& command, bool wait) {
  if (!wait) return not_started(become(command));
  int failed[2];
  if (pipe2(failed, O_CLOEXEC) != 0) return not_started(errno);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);  // until there is somebody to forward to
  const pid_t pid = fork();
  int error = errno;
  if (pid == 0) {
    error = become(command);
    _exit(write(failed[1], &error, sizeof error) == sizeof error ? 127 : 126);
  }
  close(failed[1]);
  command_pid = pid;
  if (pid > 0) stand_back();
  sigprocmask(SIG_SETMASK, &at_start.mask, nullptr);
  int status = 0;
  if (pid > 0) {
    ssize_t got = 0;
    do got = read(failed[0], &error, sizeof error);
    while (got < 0 && errno == EINTR);
    if (got != sizeof error) error = 0;
    status = wait_for(pid);
    command_pid = -1;
  }
  close(failed[0]);
  at_start.restore();
  set_action(SIGPIPE, SIG_IGN);
  if (error != 0) return not_started(error);
  Outcome out;
  out.state = WIFSIGNALED(status) ? Outcome::State::Signalled : Outcome::State::Exited;
  out.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  return out;
}

void die_of(int signal) {
  const rlimit none{0, 0};  // the command has left its core already
  setrlimit(RLIMIT_CORE, &none);
  set_action(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  kill(getpid(), signal);
  _exit(128 + signal);
}

}  // namespace tcs
