// SPDX-License-Identifier: Apache-2.0
// The one seam to the outside world: files, environment, child processes, clock. Everything else in
// tcstack is a function of what a Host answers; unit tests use an in-memory one.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/list.h"
#include "base/result.h"
#include "base/string_map.h"
#include "base/text.h"
#include "base/value.h"

namespace tcs {

struct FileStat {
  enum class Type { Missing, File, Directory, Other, Unreadable };  // symbolic links are followed
  Type type = Type::Missing;
  uint64_t size = 0;     // bytes
  int64_t mtime_ns = 0;  // since 1970, nanoseconds
  uint64_t inode = 0;    // with the device mixed in: equal = same file
  bool executable = false;
  bool foreign = false;  // it is another user's, or others may write to it
  std::string reason;    // of Missing/Unreadable: the system's words
  bool exists() const { return type != Type::Missing && type != Type::Unreadable; }
  bool is_file() const { return type == Type::File; }
  bool is_dir() const { return type == Type::Directory; }
};

// An open file for random access.
class File {
 public:
  virtual ~File() = default;
  virtual uint64_t size() const = 0;
  // Exactly `length` bytes at `offset` into `out` (resized); false when the file does not hold
  // them.
  virtual bool read(uint64_t offset, size_t length, std::string& out) = 0;
};

// A child process: argv[0] is looked up in PATH when it holds no '/'. Never a shell.
struct Command {
  TCS_COPIED(Command);
  List<std::string> argv;
  StringMap set_env;  // on top of the inherited environment
  List<std::string> unset_env;
  std::string cwd;                 // "" = inherited
  std::string input;               // standard input, else /dev/null
  int timeout_ms = 30000;          // the whole process group is killed then
  size_t output_limit = 4u << 20;  // bytes kept of each stream; the rest is dropped
};

struct Outcome {
  enum class State { Exited, Signalled, TimedOut, NotStarted };
  State state = State::NotStarted;
  int code = 0;     // exit status, or the signal's number
  std::string out;  // standard output
  std::string err;  // standard error
  std::string why;  // of NotStarted: the system's words
  int64_t ms = 0;   // wall time, milliseconds
  bool ok() const { return state == State::Exited && code == 0; }
  // "exit status 1", "killed by signal 11 (SIGSEGV)", "no answer in 30 s", "could not be started:
  // ..."
  std::string describe() const;
};

// uname(2) and the C library; "" where the system does not say.
struct SystemNames {
  std::string os, arch, kernel, glibc;
};

// A child that is spoken to line by line. Ended, its whole group killed, when this is destroyed; it
// sees the end of its input when this process dies.
class Talk {
 public:
  virtual ~Talk() = default;
  // Sends `line` (nothing where it is empty) and waits for one line on standard output, `left_ms`
  // at most, which is less by what it took; of the first, from the child's start on. False: the
  // child is over, or said nothing in that time and was killed; end() tells which.
  virtual bool ask(const std::string& line, int& left_ms, std::string& answer) = 0;
  // Closes its input and waits a moment: what became of it. `out`: what no ask() took.
  virtual Outcome end() = 0;
};

class Host {
 public:
  virtual ~Host() = default;

  virtual bool env(const std::string& name, std::string& out) const = 0;  // false = not set
  virtual List<std::pair<std::string, std::string>> environment() const = 0;

  virtual FileStat stat(const std::string& path) const = 0;
  // For reading and writing, as far as the system tells without opening it (a device is not woken).
  virtual bool may_open(const std::string& path) const = 0;
  virtual std::string real_path(const std::string& path) const = 0;  // "" when it does not resolve
  virtual Result<std::unique_ptr<File>> open(
      const std::string& path) const = 0;  // regular files only
  virtual Result<std::string> read(const std::string& path, uint64_t limit = 64u << 20) const = 0;
  virtual Result<List<std::string>> list(const std::string& directory) const = 0;  // sorted names

  virtual Result<Done> write_atomic(const std::string& path, std::string_view text) = 0;
  // `mode`: of the new ones, before the umask.
  virtual Result<Done> make_directories(const std::string& path, unsigned mode = 0700) = 0;
  virtual Result<Done> symlink(const std::string& target,
                               const std::string& path) = 0;  // replaces a link
  // Onto nothing or an empty folder; at once, or not at all.
  virtual Result<Done> rename(const std::string& from, const std::string& to) = 0;
  virtual Result<Done> remove_tree(const std::string& path) = 0;

  virtual Outcome run(const Command& command) = 0;
  // Several children at once (at most `jobs`), outcomes in the order given.
  virtual List<Outcome> run_all(const List<Command>& commands, int jobs) = 0;
  // Never null: a child that could not be started answers nothing and says why at its end.
  virtual std::unique_ptr<Talk> talk(const Command& command) = 0;
  // `command` (argv, set_env, unset_env) with this process's terminal, files and group, its signals
  // as they were before us, for as long as it takes. `wait` false: this process becomes the
  // command, and there is an outcome only where it could not be started (code: errno).
  virtual Outcome foreground(const Command& command, bool wait) = 0;
  virtual int cores() const = 0;
  virtual int64_t now() const = 0;  // seconds since 1970
  virtual SystemNames system() const = 0;
  virtual std::string cwd() const = 0;
  virtual std::string self() const = 0;  // path of this executable

  std::string env_or(const Piece& name, const Piece& fallback) const;
};

// `foreground`: of the full tool (full/foreground.h); without it that call starts nothing.
using Foreground = Outcome (*)(const Command& command, bool wait);
std::unique_ptr<Host> make_real_host(Foreground foreground = nullptr);

// All of `text` to an open file; false with errno set.
bool write_all(int fd, std::string_view text);

// Path text only, no file system. path_join("a", "/b") == "/b".
std::string path_join(std::string_view a, std::string_view b);
std::string path_join(const std::string& a, const char* b);
std::string path_join(const std::string& a, const std::string& b);
std::string path_parent(std::string_view path);  // "" for a bare name
std::string path_name(std::string_view path);
// The first executable file of this name in the PATH-like list `path`; "" when there is none.
std::string find_program(const Host& host, const std::string& name, const std::string& path);

}  // namespace tcs
