// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "base/text.h"
#include "host/child.h"
#include "host/host.h"

extern char** environ;

namespace tcs {

namespace {

Error system_error(const std::string& path) {
  return Error{std::strerror(errno), path};
}

int64_t monotonic_ms() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<int64_t>(t.tv_sec) * 1000 + t.tv_nsec / 1000000;
}

// After a read that failed: the other end of a pipe (`--facts <(command)`) may take its time, but
// not for ever.
bool comes_more(int fd, int64_t deadline) {
  const int error = errno;
  const int64_t left = deadline - monotonic_ms();
  pollfd ready{fd, POLLIN, 0};
  const bool more = error == EINTR ||
                    (error == EAGAIN && left > 0 && poll(&ready, 1, static_cast<int>(left)) >= 0);
  errno = error;
  return more;
}

class RealFile final : public File {
 public:
  RealFile(int fd, uint64_t size) : fd_(fd), size_(size) {}
  RealFile(const RealFile&) = delete;
  RealFile& operator=(const RealFile&) = delete;
  ~RealFile() override { ::close(fd_); }
  uint64_t size() const override { return size_; }
  bool read(uint64_t offset, size_t length, std::string& out) override {
    if (offset > size_ || length > size_ - offset) return false;
    out.resize(length);
    size_t done = 0;
    while (done < length) {
      ssize_t got = pread(fd_, &out[done], length - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      done += static_cast<size_t>(got);
    }
    return true;
  }

 private:
  int fd_;
  uint64_t size_;
};

Result<Done> write_to(const std::string& path, int flags, std::string_view text) {
  signal(SIGXFSZ, SIG_IGN);  // a file over `ulimit -f` is an error, not the end
  // A FIFO that nobody reads is an error (ENXIO), not a wait; one that is read may be slow.
  int fd = ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0644);
  if (fd < 0) return system_error(path);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  bool ok = write_all(fd, text);
  int error = errno;
  if (::close(fd) != 0 && ok) {
    error = errno;
    ok = false;
  }
  if (!ok) return Error{std::strerror(error), path};
  return Done{};
}

class RealHost final : public Host {
 public:
  explicit RealHost(Foreground runner) : foreground_(runner) {}
  bool env(const std::string& name, std::string& out) const override {
    const char* value = getenv(name.c_str());
    if (value == nullptr) return false;
    out = value;
    return true;
  }

  List<std::pair<std::string, std::string>> environment() const override {
    StringMap sorted;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
      const std::string line = *entry, name = line.substr(0, line.find('='));
      if (name.size() < line.size() && !sorted.find(name))  // getenv() takes the first, too
        sorted[name] = line.substr(name.size() + 1);
    }
    List<std::pair<std::string, std::string>> out;
    for (const auto& variable : sorted) out.push_back({variable.first, variable.second});
    return out;
  }

  FileStat stat(const std::string& path) const override {
    FileStat result;
    struct stat st {};
    if (::stat(path.c_str(), &st) != 0) {
      bool missing = errno == ENOENT || errno == ENOTDIR;
      result.type = missing ? FileStat::Type::Missing : FileStat::Type::Unreadable;
      result.reason = std::strerror(errno);
      return result;
    }
    result.type = S_ISREG(st.st_mode)   ? FileStat::Type::File
                  : S_ISDIR(st.st_mode) ? FileStat::Type::Directory
                                        : FileStat::Type::Other;
    result.size = static_cast<uint64_t>(st.st_size);
    result.mtime_ns = static_cast<int64_t>(st.st_mtim.tv_sec) * 1000000000 + st.st_mtim.tv_nsec;
    result.inode = static_cast<uint64_t>(st.st_ino) ^ (static_cast<uint64_t>(st.st_dev) << 48);
    result.executable = access(path.c_str(), X_OK) == 0;
    result.foreign = st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    return result;
  }

  // Asks also the container's list of devices, which mode bits do not show.
  bool may_open(const std::string& path) const override {
    return faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK, AT_EACCESS) == 0;
  }

  std::string real_path(const std::string& path) const override {
    char* resolved = realpath(path.c_str(), nullptr);
    std::string out = resolved != nullptr ? resolved : "";
    free(resolved);
    return out;
  }

  Result<std::unique_ptr<File>> open(const std::string& path) const override {
    // O_NONBLOCK: a FIFO without a writer must not hang us; it is refused below.
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return system_error(path);
    struct stat st {};
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
      ::close(fd);
      return Error{
          S_ISDIR(st.st_mode) ? "is a directory; expected a file" : "is not a regular file", path};
    }
    return std::unique_ptr<File>(new RealFile(fd, static_cast<uint64_t>(st.st_size)));
  }

  Result<std::string> read(const std::string& path, uint64_t limit) const override {
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return system_error(path);
    struct stat st {};
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
      ::close(fd);
      return Error{"is a directory; expected a file", path};
    }
    // Read to the end, not to st_size: files of /proc and /sys say 0 or 4096.
    std::string text;
    char buffer[16384];
    ssize_t got = 0;
    const int64_t deadline = monotonic_ms() + 10000;
    while ((got = ::read(fd, buffer, sizeof buffer)) > 0 || (got < 0 && comes_more(fd, deadline))) {
      if (got > 0) text.append(buffer, static_cast<size_t>(got));
      if (text.size() > limit) break;
    }
    int error = errno;
    ::close(fd);
    if (got < 0 && error == EAGAIN) return Error{"is a pipe that does not end", path};
    if (got < 0) return Error{std::strerror(error), path};
    if (text.size() > limit) return Error{cat("larger than ", limit, " bytes"), path};
    return text;
  }

  Result<List<std::string>> list(const std::string& directory) const override {
    dirent** entries = nullptr;
    const int count = scandir(directory.c_str(), &entries, nullptr, alphasort);
    if (count < 0) return system_error(directory);
    List<std::string> names;
    for (int i = 0; i < count; ++i) {
      const std::string_view name = entries[i]->d_name;
      if (name != "." && name != "..") names.push_back(std::string(name));
      free(entries[i]);
    }
    free(entries);
    return names;
  }

  Result<Done> write_atomic(const std::string& path, std::string_view text) override {
    FileStat at = stat(path);
    if (at.is_dir()) return Error{"is a directory; expected a file", path};
    // /dev/null, /dev/stdout, a FIFO: a rename would put a file in their place.
    if (at.type == FileStat::Type::Other) return write_to(path, O_WRONLY, text);
    struct stat link {};
    if (!at.exists() && lstat(path.c_str(), &link) == 0)
      return Error{cat("is a link to what cannot be written: ", at.reason), path};
    // A link stays one: what it points to is replaced.
    std::string target = at.is_file() ? real_path(path) : path;
    std::string temporary = cat(target, ".", getpid(), ".tmp");
    Result<Done> written = write_to(temporary, O_WRONLY | O_CREAT | O_TRUNC, text);
    // Who could not read the file before does not read the new one.
    struct stat old {};
    if (at.is_file() && ::stat(target.c_str(), &old) == 0)
      (void)!chmod(temporary.c_str(), old.st_mode & 07777);
    if (written && ::rename(temporary.c_str(), target.c_str()) == 0) return Done{};
    Error error{written ? std::strerror(errno) : written.error().text, path};
    unlink(temporary.c_str());
    return error;
  }

  Result<Done> make_directories(const std::string& path, unsigned mode) override {
    if (stat(path).is_dir()) return Done{};
    std::string parent = path_parent(path);
    if (!parent.empty() && parent != path) {
      Result<Done> made = make_directories(parent, mode);
      if (!made) return made;
    }
    if (mkdir(path.c_str(), mode) == 0) return Done{};
    const int error = errno;  // which stat() changes
    if (error != EEXIST) return Error{std::strerror(error), path};
    return stat(path).is_dir() ? Result<Done>(Done{}) : Error{std::strerror(ENOTDIR), path};
  }

  Result<Done> symlink(const std::string& target, const std::string& path) override {
    std::string temporary = cat(path, ".", getpid(), ".tmp");
    unlink(temporary.c_str());
    if (::symlink(target.c_str(), temporary.c_str()) != 0) return system_error(path);
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
      Error error = system_error(path);
      unlink(temporary.c_str());
      return error;
    }
    return Done{};
  }

  Result<Done> rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return system_error(to);
    return Done{};
  }

  Result<Done> remove_tree(const std::string& path) override {
    struct stat st {};
    if (lstat(path.c_str(), &st) != 0) {
      if (errno == ENOENT) return Done{};
      return system_error(path);
    }
    if (S_ISDIR(st.st_mode)) {
      Result<List<std::string>> names = list(path);
      if (!names) return names.error();
      for (const std::string& name : *names) {
        Result<Done> gone = remove_tree(path_join(path, name));
        if (!gone) return gone;
      }
    }
    if (remove(path.c_str()) != 0 && errno != ENOENT) return system_error(path);
    return Done{};
  }

  Outcome run(const Command& command) override { return run_children({command}, 1)[0]; }
  List<Outcome> run_all(const List<Command>& commands, int jobs) override {
    return run_children(commands, jobs);
  }
  std::unique_ptr<Talk> talk(const Command& command) override { return talk_to(command); }

  Outcome foreground(const Command& command, bool wait) override {
    return foreground_ != nullptr ? foreground_(command, wait) : Outcome();
  }

  int cores() const override {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  }
  int64_t now() const override { return static_cast<int64_t>(time(nullptr)); }
  SystemNames system() const override {
    SystemNames out;
    utsname names;
    if (uname(&names) == 0) {
      out.os = names.sysname;
      out.arch = names.machine;
      out.kernel = names.release;
    }
#ifdef __GLIBC__
    out.glibc = gnu_get_libc_version();
#endif
    return out;
  }
  std::string cwd() const override {
    char buffer[PATH_MAX];
    return getcwd(buffer, sizeof buffer) != nullptr ? buffer : "";
  }
  std::string self() const override {
    return real_path("/proc/self/exe");
  }

 private:
  Foreground foreground_;
};

}  // namespace

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    text.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

std::unique_ptr<Host> make_real_host(Foreground foreground) {
  return std::unique_ptr<Host>(new RealHost(foreground));
}

}  // namespace tcs
