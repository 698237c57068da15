// SPDX-License-Identifier: Apache-2.0
#include "host/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.h"

extern char** environ;

namespace tcs {

List<std::string> child_environment(const Command& command) {
  List<std::string> lines;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    std::string line = *entry;
    std::string name = line.substr(0, line.find('='));
    bool dropped = command.set_env.find(name) != nullptr;
    for (const std::string& gone : command.unset_env) dropped = dropped || gone == name;
    if (!dropped) lines.push_back(std::move(line));
  }
  for (const auto& pair : command.set_env) lines.push_back(cat(pair.first, "=", pair.second));
  return lines;
}

namespace {

int64_t clock_ms() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<int64_t>(t.tv_sec) * 1000 + t.tv_nsec / 1000000;
}

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
  static void close_end(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
  void close() {
    close_end(read_end);
    close_end(write_end);
  }
};

List<char*> pointers(List<std::string>& strings) {
  List<char*> out;
  for (std::string& s : strings) out.push_back(&s[0]);
  out.push_back(nullptr);
  return out;
}

class Child {
 public:
  // `talks`: its input stays open until hear_no_more().
  Child(const Command& command, Outcome& outcome, bool talks = false)
      : command_(command), outcome_(outcome), talks_(talks) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // False when it could not be started: the outcome says why.
  bool start() {
    begin_ = clock_ms();
    if (command_.argv.empty() || command_.argv[0].empty()) return refuse("no program named");
    Pipe failed;
    if (!in_.open() || !out_.open() || !err_.open() || !failed.open()) {
      failed.close();
      return refuse(std::strerror(errno));
    }
    // Made before fork: between fork and exec only async-signal-safe calls are allowed.
    List<std::string> args = command_.argv;
    List<std::string> env = child_environment(command_);
    List<char*> argv = pointers(args);
    List<char*> envp = pointers(env);
    parent_ = getpid();
    pid_ = fork();
    if (pid_ < 0) {
      failed.close();
      return refuse(std::strerror(errno));
    }
    if (pid_ == 0) become(argv.begin(), envp.begin(), failed);
    setpgid(pid_, pid_);
    Pipe::close_end(failed.write_end);
    Pipe::close_end(in_.read_end);
    Pipe::close_end(out_.write_end);
    Pipe::close_end(err_.write_end);
    int error = 0;
    ssize_t got = 0;
    do {
      got = ::read(failed.read_end, &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    failed.close();
    if (got == static_cast<ssize_t>(sizeof error)) {
      waitpid(pid_, nullptr, 0);
      return refuse(std::strerror(error));
    }
    for (int end : {in_.write_end, out_.read_end, err_.read_end}) {
      fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK);
    }
    if (command_.input.empty() && !talks_) Pipe::close_end(in_.write_end);
    return true;
  }

  void watch(List<pollfd>& fds) const {
    if (out_.read_end >= 0) fds.push_back({out_.read_end, POLLIN, 0});
    if (err_.read_end >= 0) fds.push_back({err_.read_end, POLLIN, 0});
    if (in_.write_end >= 0 && fed_ < command_.input.size())
      fds.push_back({in_.write_end, POLLOUT, 0});
  }
  void hear_no_more() {
    talks_ = false;
    feed();
  }
  void wait_another(int ms) { more_ms_ = clock_ms() - begin_ + ms - command_.timeout_ms; }
  int64_t remaining() const { return begin_ + command_.timeout_ms + more_ms_ - clock_ms(); }

  // Moves what can be moved; true when the child is over and its outcome complete.
  bool step() {
    drain(out_.read_end, outcome_.out);
    drain(err_.read_end, outcome_.err);
    feed();
    if (!over_) {
      // Looked at, not yet reaped: until then the id of its group cannot become another's.
      siginfo_t info{};
      int got = waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
      over_ = (got == 0 && info.si_pid == pid_) || (got != 0 && errno != EINTR);
      if (over_) {  // all that it said is there by now, however long this process was kept waiting
        over_at_ = clock_ms();
        drain(out_.read_end, outcome_.out);
        drain(err_.read_end, outcome_.err);
      }
    }
    // A grandchild may keep the pipes open after the child is gone: do not wait long for it.
    bool closed = out_.read_end < 0 && err_.read_end < 0;
    if (over_ && (closed || clock_ms() - over_at_ > 200)) return finish(false);
    if (remaining() <= 0) return finish(true);
    return false;
  }

 private:
  bool refuse(const char* why) {
    outcome_.state = Outcome::State::NotStarted;
    outcome_.why = why;
    in_.close();
    out_.close();
    err_.close();
    return false;
  }

  [[noreturn]] void become(char** argv, char** envp, const Pipe& failed) {
    setpgid(0, 0);
    // One that hangs in a driver does not outlive us: it would not see the end of its input.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent_) _exit(126);
    int in = command_.input.empty() && !talks_ ? ::open("/dev/null", O_RDONLY) : in_.read_end;
    dup2(in, 0);
    dup2(out_.write_end, 1);
    dup2(err_.write_end, 2);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (command_.cwd.empty() || chdir(command_.cwd.c_str()) == 0) execvpe(argv[0], argv, envp);
    int error = errno;
    ssize_t ignored = ::write(failed.write_end, &error, sizeof error);
    _exit(ignored >= 0 ? 127 : 126);
  }

  void drain(int& end, std::string& into) {
    char buffer[65536];
    while (end >= 0) {
      ssize_t got = ::read(end, buffer, sizeof buffer);
      if (got > 0) {
        size_t room = command_.output_limit - std::min(command_.output_limit, into.size());
        into.append(buffer, std::min(room, static_cast<size_t>(got)));
      } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        Pipe::close_end(end);
      } else if (errno == EAGAIN) {
        return;
      }
    }
  }

  void feed() {
    while (in_.write_end >= 0 && !(talks_ && fed_ == command_.input.size())) {
      ssize_t put =
          ::write(in_.write_end, command_.input.data() + fed_, command_.input.size() - fed_);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0 && errno == EAGAIN) return;
      if (put > 0) fed_ += static_cast<size_t>(put);
      if (put <= 0 || (fed_ == command_.input.size() && !talks_)) Pipe::close_end(in_.write_end);
    }
  }

  // A child that hangs inside a driver cannot be killed (state D): it is left behind.
  void reap() {
    for (int64_t end = clock_ms() + 500; clock_ms() < end; usleep(1000)) {
      pid_t got = waitpid(pid_, &status_, WNOHANG);
      if (got == pid_ || (got < 0 && errno != EINTR)) return;
    }
  }

  bool finish(bool timed_out) {
    kill(-pid_, SIGKILL);
    reap();
    in_.close();
    out_.close();
    err_.close();
    outcome_.ms = clock_ms() - begin_;
    if (timed_out) {
      outcome_.state = Outcome::State::TimedOut;
    } else if (WIFSIGNALED(status_)) {
      outcome_.state = Outcome::State::Signalled;
      outcome_.code = WTERMSIG(status_);
    } else {
      outcome_.state = Outcome::State::Exited;
      outcome_.code = WEXITSTATUS(status_);
    }
    return true;
  }

  const Command& command_;
  Outcome& outcome_;
  Pipe in_, out_, err_;
  pid_t pid_ = -1, parent_ = -1;
  int status_ = 0;
  bool over_ = false;
  int64_t over_at_ = 0;
  int64_t begin_ = 0;
  int64_t more_ms_ = 0;  // on top of the command's deadline
  size_t fed_ = 0;
  bool talks_ = false;
};

void wait_a_little(const List<Child*>& running) {
  List<pollfd> fds;
  int64_t wait = 20;  // also the period in which a child that closed its pipes is reaped
  for (Child* child : running) {
    child->watch(fds);
    wait = std::min(wait, std::max<int64_t>(child->remaining(), 0));
  }
  poll(fds.begin(), fds.size(), static_cast<int>(fds.empty() ? std::min<int64_t>(wait, 1) : wait));
}

class ChildTalk : public Talk {
 public:
  explicit ChildTalk(const Command& command)
      : command_(command), child_(command_, outcome_, true), over_(!child_.start()) {}
  ~ChildTalk() override {
    if (!over_) child_.wait_another(0);
    while (!over_) over_ = child_.step();
  }

  bool ask(const std::string& line, int& left_ms, std::string& answer) override {
    if (!line.empty()) command_.input += line + "\n";
    const int64_t deadline = (since_ != 0 ? since_ : clock_ms()) + left_ms;
    child_.wait_another(static_cast<int>(deadline - clock_ms()));
    bool said = false;
    while (!said) {
      if (!over_) over_ = child_.step();
      said = take_line(answer);
      if (over_ && !said) break;
      if (!said) wait_a_little(List<Child*>{&child_});
    }
    left_ms = static_cast<int>(std::max<int64_t>(deadline - clock_ms(), 0));
    since_ = 0;
    return said;
  }

  Outcome end() override {
    constexpr int kMomentMs = 500;  // it has nothing left to do
    if (!over_) {
      child_.hear_no_more();
      child_.wait_another(kMomentMs);
    }
    while (!over_) {
      over_ = child_.step();
      if (!over_) wait_a_little(List<Child*>{&child_});
    }
    return outcome_;
  }

 private:
  bool take_line(std::string& line) {
    const size_t end = outcome_.out.find('\n');
    if (end == std::string::npos) return false;
    line = outcome_.out.substr(0, end);
    outcome_.out.erase(0, end + 1);
    return true;
  }

  Command command_;
  Outcome outcome_;
  Child child_;
  bool over_;
  int64_t since_ = clock_ms();  // 0 after the first answer
};

}  // namespace

std::unique_ptr<Talk> talk_to(const Command& command) {
  signal(SIGPIPE, SIG_IGN);
  return std::unique_ptr<Talk>(new ChildTalk(command));
}

List<Outcome> run_children(const List<Command>& commands, int jobs) {
  signal(SIGPIPE, SIG_IGN);
  List<Outcome> outcomes(commands.size());
  List<Child*> running;
  size_t next = 0;
  while (next < commands.size() || !running.empty()) {
    while (next < commands.size() && static_cast<int>(running.size()) < std::max(jobs, 1)) {
      Child* child = new Child(commands[next], outcomes[next]);
      if (child->start())
        running.push_back(child);
      else
        delete child;
      ++next;
    }
    if (running.empty()) continue;
    wait_a_little(running);
    for (size_t i = 0; i < running.size();) {
      if (running[i]->step()) {
        delete running[i];
        running.erase(running.begin() + i);
      } else {
        ++i;
      }
    }
  }
  return outcomes;
}

}  // namespace tcs
