// SPDX-License-Identifier: Apache-2.0
// The real host: files in a folder of its own, real children.
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>

#include "base/text.h"
#include "host/host.h"

using namespace tcs;

namespace {

struct Folder {
  std::string path;
  Folder() {
    char name[] = "/tmp/tcs host test XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { (void)make_real_host()->remove_tree(path); }
};

Outcome run(List<std::string> argv, int timeout_ms = 20000) {
  Command command;
  command.argv = std::move(argv);
  command.timeout_ms = timeout_ms;
  return make_real_host()->run(command);
}

}  // namespace

TEST_CASE("a child's streams and status are kept apart") {
  Outcome o = run({"sh", "-c", "echo out; echo err >&2; exit 3"});
  CHECK(o.state == Outcome::State::Exited);
  CHECK(o.code == 3);
  CHECK(o.out == "out\n");
  CHECK(o.err == "err\n");
  CHECK(o.describe() == "exit status 3");
}

TEST_CASE("a child that hangs is killed with its own children") {
  auto begin = std::chrono::steady_clock::now();
  Outcome o = run({"sh", "-c", "echo begun; sleep 60 & sleep 60"}, 300);
  CHECK(o.state == Outcome::State::TimedOut);
  CHECK(o.out == "begun\n");
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
  CHECK(contains(o.describe(), "no answer in"));
}

TEST_CASE("a grandchild that keeps the pipe open does not keep us waiting") {
  Outcome o = run({"sh", "-c", "sleep 60 & echo done"}, 30000);
  CHECK(o.ok());
  CHECK(o.out == "done\n");
  CHECK(o.ms < 20000);
}

TEST_CASE("a child that hangs does not outlive a tcstack that is killed") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t tool = fork();
  if (tool == 0) {
    Command command;
    command.argv = {"sh", "-c", "echo $$; exec sleep 60"};
    std::string line;
    int left_ms = 20000;
    auto child = make_real_host()->talk(command);
    child->ask("", left_ms, line);
    _exit(write(ends[1], (line + "\n").data(), line.size() + 1) > 0 ? pause() : 1);
  }
  char pid[32] = "";
  REQUIRE(read(ends[0], pid, sizeof pid - 1) > 1);
  kill(tool, SIGKILL);
  waitpid(tool, nullptr, 0);
  const std::string stat = cat("/proc/", trim(pid), "/stat");
  bool over = false;
  for (int i = 0; i < 1000 && !over; ++i, usleep(10000)) {
    Result<std::string> text = make_real_host()->read(stat);
    over = !text || contains(*text, ") Z");
  }
  CHECK(over);
  for (int end : ends) close(end);
}

TEST_CASE("a folder that others may write to is told from one's own") {
  Folder folder;
  auto host = make_real_host();
  CHECK_FALSE(host->stat(folder.path).foreign);
  REQUIRE(chmod(folder.path.c_str(), 0770) == 0);
  CHECK(host->stat(folder.path).foreign);
}

TEST_CASE("a child that crashes is told by its signal") {
  Outcome o = run({"sh", "-c", "kill -SEGV $$"});
  CHECK(o.state == Outcome::State::Signalled);
  CHECK(o.describe() == "killed by signal 11 (SIGSEGV)");
}

TEST_CASE("what cannot be started says why") {
  Outcome o = run({"/nonexistent/nvcc"});
  CHECK(o.state == Outcome::State::NotStarted);
  CHECK(contains(o.describe(), "No such file or directory"));
  CHECK(run({""}).state == Outcome::State::NotStarted);
  CHECK(run({}).state == Outcome::State::NotStarted);
  Folder folder;
  CHECK(contains(run({folder.path}).describe(), "ermission denied"));
}

TEST_CASE("input reaches the child, environment changes reach it alone") {
  Command command;
  command.argv = {"sh", "-c", "cat; printf %s \"$TCS_TEST_A-${TCS_TEST_B-unset}\""};
  command.input = std::string(200000, 'x');
  command.set_env["TCS_TEST_A"] = "a b;c";
  command.unset_env = {"TCS_TEST_B"};
  setenv("TCS_TEST_B", "1", 1);
  Outcome o = make_real_host()->run(command);
  CHECK(o.ok());
  CHECK(o.out == command.input + "a b;c-unset");
  CHECK(getenv("TCS_TEST_A") == nullptr);
}

TEST_CASE("arguments are passed as they are, never through a shell") {
  CHECK(run({"printf", "%s|", "$(id)", "a;b", "it's"}).out == "$(id)|a;b|it's|");
}

TEST_CASE("output beyond the limit is dropped, the child goes on") {
  Command command;
  command.argv = {"sh", "-c", "head -c 1000000 /dev/zero; exit 4"};
  command.output_limit = 1000;
  Outcome o = make_real_host()->run(command);
  CHECK(o.code == 4);
  CHECK(o.out.size() == 1000);
}

TEST_CASE("several children run at once, outcomes in the order given") {
  List<Command> commands(5);
  for (size_t i = 0; i < commands.size(); ++i)
    commands[i].argv = {"sh", "-c", cat("sleep 0.", 5 - i, "; echo ", i)};
  List<Outcome> outcomes = make_real_host()->run_all(commands, 5);
  int64_t total = 0;
  int64_t longest = 0;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    CHECK(outcomes[i].out == cat(i, "\n"));
    total += outcomes[i].ms;
    longest = std::max(longest, outcomes[i].ms);
  }
  CHECK(total > longest);
  CHECK(make_real_host()->run_all({}, 2).empty());
}

TEST_CASE("files are written whole or not at all") {
  Folder folder;
  auto host = make_real_host();
  std::string path = folder.path + "/a;b \"c\" \xC3\xA4";
  REQUIRE(host->write_atomic(path, "one"));
  REQUIRE(host->write_atomic(path, "two"));
  CHECK(*host->read(path) == "two");
  CHECK(host->list(folder.path)->size() == 1);
  Result<Done> full = host->write_atomic("/dev/full/x", "text");
  REQUIRE_FALSE(full);
  CHECK(full.error().place == "/dev/full/x");
  CHECK(contains(host->read(path, 2).error().text, "larger than 2 bytes"));
}

TEST_CASE("a file over the size limit is an error that leaves nothing behind") {
  Folder folder;
  auto host = make_real_host();
  struct rlimit before {};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  struct rlimit small = before;
  small.rlim_cur = 4096;
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  Result<Done> written = host->write_atomic(folder.path + "/big", std::string(10000, 'x'));
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  REQUIRE_FALSE(written);
  CHECK(contains(written.error().text, "File too large"));
  CHECK(host->list(folder.path)->empty());
  // What is ignored here is not ignored in a child.
  Outcome child = run({"sh", "-c", "kill -XFSZ $$"});
  CHECK(child.state == Outcome::State::Signalled);
}

TEST_CASE("writing to a device or through a link leaves the device and the link") {
  Folder folder;
  auto host = make_real_host();
  struct stat before {};
  REQUIRE(stat("/dev/null", &before) == 0);
  std::string link = folder.path + "/to-null";
  REQUIRE(host->symlink("/dev/null", link));
  REQUIRE(host->write_atomic(link, "text"));
  struct stat after {};
  REQUIRE(stat("/dev/null", &after) == 0);
  CHECK(S_ISCHR(after.st_mode));
  CHECK(after.st_rdev == before.st_rdev);
  REQUIRE(host->write_atomic(folder.path + "/file", "old"));
  REQUIRE(host->symlink("file", folder.path + "/link"));
  REQUIRE(host->write_atomic(folder.path + "/link", "new"));
  CHECK(*host->read(folder.path + "/file") == "new");
  REQUIRE(host->symlink("gone", folder.path + "/dangling"));
  Result<Done> dangling = host->write_atomic(folder.path + "/dangling", "text");
  REQUIRE_FALSE(dangling);
  CHECK(dangling.error().place == folder.path + "/dangling");
  CHECK(contains(dangling.error().text, "is a link to what cannot be written: No such file"));
  CHECK(host->list(folder.path)->size() == 4);
  std::string fifo = folder.path + "/fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  CHECK_FALSE(host->write_atomic(fifo, "text"));  // nobody reads it
  REQUIRE(stat(fifo.c_str(), &after) == 0);
  CHECK(S_ISFIFO(after.st_mode));
  CHECK(contains(host->write_atomic("/dev/full", "text").error().text, "No space left"));
  CHECK(contains(host->write_atomic(folder.path, "text").error().text, "is a directory"));
}

TEST_CASE("a file that is replaced keeps its mode: a private one stays private") {
  Folder folder;
  auto host = make_real_host();
  const std::string path = folder.path + "/facts.json";
  REQUIRE(host->write_atomic(path, "old"));
  REQUIRE(chmod(path.c_str(), 0600) == 0);
  REQUIRE(host->write_atomic(path, "new"));
  struct stat st {};
  REQUIRE(stat(path.c_str(), &st) == 0);
  CHECK((st.st_mode & 0777) == 0600);
}

TEST_CASE("a directory, a FIFO and a missing file are refused by name") {
  Folder folder;
  auto host = make_real_host();
  CHECK(contains(host->open(folder.path).error().text, "is a directory"));
  CHECK(contains(host->read(folder.path).error().text, "is a directory"));
  std::string fifo = folder.path + "/fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(contains(host->open(fifo).error().text, "not a regular file"));
  CHECK(host->stat(fifo).type == FileStat::Type::Other);
  CHECK(contains(host->open(folder.path + "/none").error().text, "No such file"));
  CHECK_FALSE(host->stat(folder.path + "/none").exists());
}

TEST_CASE("a folder below a file, or in its place, is refused as no directory") {
  Folder folder;
  auto host = make_real_host();
  REQUIRE(host->write_atomic(folder.path + "/f", "x"));
  for (const char* at : {"/f", "/f/deep", "/f/deep/er"})
    CHECK(host->make_directories(folder.path + at).error().str() ==
          folder.path + "/f: Not a directory");
}

TEST_CASE("links are followed, replaced, and removed without what they point to") {
  Folder folder;
  auto host = make_real_host();
  REQUIRE(host->make_directories(folder.path + "/real/deep"));
  REQUIRE(host->write_atomic(folder.path + "/real/deep/f", "x"));
  REQUIRE(host->symlink("real", folder.path + "/link"));
  REQUIRE(host->symlink("real/deep", folder.path + "/link"));
  CHECK(host->real_path(folder.path + "/link/f") == host->real_path(folder.path) + "/real/deep/f");
  REQUIRE(host->remove_tree(folder.path + "/link"));
  CHECK(host->stat(folder.path + "/real/deep/f").is_file());
  CHECK(host->real_path(folder.path + "/none").empty());
}

TEST_CASE("a read beyond the end of a file answers false") {
  Folder folder;
  auto host = make_real_host();
  REQUIRE(host->write_atomic(folder.path + "/f", "0123456789"));
  auto file = host->open(folder.path + "/f");
  REQUIRE(file);
  std::string out;
  CHECK((*file)->read(8, 2, out));
  CHECK(out == "89");
  CHECK_FALSE((*file)->read(8, 3, out));
  CHECK_FALSE((*file)->read(UINT64_MAX, 1, out));
}

TEST_CASE("paths are joined and taken apart as text") {
  CHECK(path_join("a", "b") == "a/b");
  CHECK(path_join("a/", "b") == "a/b");
  CHECK(path_join("a", "/b") == "/b");
  CHECK(path_join("", "b") == "b");
  CHECK(path_parent("/a/b/") == "/a");
  CHECK(path_parent("/a") == "/");
  CHECK(path_parent("a").empty());
  CHECK(path_name("/a/b/") == "b");
}

TEST_CASE("a program is the first executable file of that name in PATH") {
  Folder folder;
  auto host = make_real_host();
  for (const char* sub : {"1", "2", "3"}) REQUIRE(host->make_directories(folder.path + "/" + sub));
  REQUIRE(host->make_directories(folder.path + "/1/nvcc"));
  REQUIRE(host->write_atomic(folder.path + "/2/nvcc", ""));
  REQUIRE(host->write_atomic(folder.path + "/3/nvcc", ""));
  chmod((folder.path + "/3/nvcc").c_str(), 0755);
  std::string path = folder.path + "/1:" + folder.path + "/2::" + folder.path + "/3";
  CHECK(find_program(*host, "nvcc", path) == folder.path + "/3/nvcc");
  CHECK(find_program(*host, "none", path).empty());
}

TEST_CASE("whether a device may be opened is told without opening it") {
  auto host = make_real_host();
  CHECK(host->may_open("/dev/null"));
  CHECK_FALSE(host->may_open("/dev/no-such-device"));
  CHECK_FALSE(host->may_open("/proc/version/none"));
}
