// SPDX-License-Identifier: Apache-2.0
// A Host that lives in memory: files, links, environment and the answers of child processes are
// what a test says they are.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/list.h"
#include "base/text.h"
#include "host/host.h"

namespace tcs {

class MemoryFile final : public File {
 public:
  explicit MemoryFile(std::string bytes) : bytes_(std::move(bytes)) {}
  uint64_t size() const override { return bytes_.size(); }
  bool read(uint64_t offset, size_t length, std::string& out) override {
    if (offset > bytes_.size() || length > bytes_.size() - offset) return false;
    out = bytes_.substr(offset, length);
    return true;
  }

 private:
  std::string bytes_;
};

class MemoryHost : public Host {
 public:
  std::map<std::string, std::string> files;      // absolute path -> content
  std::set<std::string> executables;             // paths that may be run
  std::set<std::string> unreadable;              // open() and list() fail: "Permission denied"
  std::set<std::string> foreign;                 // another user's
  std::map<std::string, int64_t> times;          // mtime_ns; 0 where it is not named
  std::set<std::string> directories;             // empty ones; parents of files exist by themselves
  std::map<std::string, std::string> links;      // path -> target (absolute or relative)
  std::map<std::string, std::string> variables;  // the environment
  std::function<Outcome(const Command&)> on_run;  // answers run(); default: not started
  List<Command> ran;                              // every command that was run

  // An executable file.
  void program(const std::string& path, const std::string& content = "#!program") {
    files[path] = content;
    executables.insert(path);
  }
  static Outcome exits(int code, std::string out = {}, std::string err = {}) {
    Outcome o;
    o.state = Outcome::State::Exited;
    o.code = code;
    o.out = std::move(out);
    o.err = std::move(err);
    return o;
  }

  bool env(const std::string& name, std::string& out) const override {
    auto it = variables.find(name);
    if (it == variables.end()) return false;
    out = it->second;
    return true;
  }
  List<std::pair<std::string, std::string>> environment() const override {
    List<std::pair<std::string, std::string>> out;
    for (const auto& variable : variables) out.push_back(variable);
    return out;
  }
  FileStat stat(const std::string& path) const override {
    FileStat s;
    std::string real = real_path(path);
    if (real.empty()) {
      s.reason = "No such file or directory";
      return s;
    }
    s.inode = std::hash<std::string>()(real);
    auto it = files.find(real);
    s.type = it != files.end() ? FileStat::Type::File : FileStat::Type::Directory;
    if (it != files.end()) s.size = it->second.size();
    s.executable = s.is_dir() || executables.count(real) != 0;
    s.foreign = foreign.count(real) != 0;
    if (auto time = times.find(real); time != times.end()) s.mtime_ns = time->second;
    return s;
  }
  bool may_open(const std::string& path) const override {
    const std::string real = real_path(path);
    return !real.empty() && unreadable.count(real) == 0;
  }
  std::string real_path(const std::string& path) const override {
    std::string real;
    List<std::string> parts = split(path, "/");
    for (size_t i = 0, hops = 0; i < parts.size(); ++i) {
      if (parts[i] == ".") continue;
      if (parts[i] == "..") {
        real = path_parent(real) == "/" ? "" : path_parent(real);
        continue;
      }
      std::string next = real + "/" + parts[i];
      auto link = links.find(next);
      if (link == links.end()) {
        real = next;
        continue;
      }
      if (++hops > 40) return {};
      List<std::string> rest = split(link->second, "/");
      if (starts_with(link->second, "/")) real.clear();
      for (++i; i < parts.size(); ++i) rest.push_back(parts[i]);
      parts = rest;
      i = static_cast<size_t>(-1);
    }
    if (real.empty()) return "/";
    return files.count(real) != 0 || is_directory(real) ? real : std::string();
  }
  Result<std::unique_ptr<File>> open(const std::string& path) const override {
    Result<std::string> text = read(path, UINT64_MAX);
    if (!text) return text.error();
    return std::unique_ptr<File>(std::make_unique<MemoryFile>(*text));
  }
  Result<std::string> read(const std::string& path, uint64_t limit) const override {
    std::string real = real_path(path);
    auto it = files.find(real);
    if (unreadable.count(real) != 0) return Error{"Permission denied", path};
    if (it == files.end()) {
      return Error{real.empty() ? "No such file or directory" : "is a directory; expected a file",
                   path};
    }
    if (it->second.size() > limit) return Error{cat("larger than ", limit, " bytes"), path};
    return it->second;
  }
  Result<List<std::string>> list(const std::string& directory) const override {
    std::string real = real_path(directory);
    if (real.empty() || !is_directory(real)) return Error{"No such file or directory", directory};
    if (unreadable.count(real) != 0) return Error{"Permission denied", directory};
    std::set<std::string> names;
    std::string prefix = real == "/" ? real : real + "/";
    auto take = [&](const std::string& path) {
      if (starts_with(path, prefix))
        names.insert(path.substr(prefix.size(), path.find('/', prefix.size()) - prefix.size()));
    };
    for (const auto& file : files) take(file.first);
    for (const auto& link : links) take(link.first);
    for (const auto& folder : directories) take(folder);
    List<std::string> out;
    for (const auto& name : names) out.push_back(name);
    return out;
  }
  Result<Done> write_atomic(const std::string& path, std::string_view text) override {
    files[path] = std::string(text);
    return Done{};
  }
  Result<Done> make_directories(const std::string& path, unsigned) override {
    directories.insert(path);
    return Done{};
  }
  Result<Done> symlink(const std::string& target, const std::string& path) override {
    links[path] = target;
    return Done{};
  }
  Result<Done> rename(const std::string& from, const std::string& to) override {
    Result<List<std::string>> there = list(to);
    if (there && !there->empty()) return Error{"Directory not empty", to};
    const std::string prefix = from + "/";
    std::map<std::string, std::string> moved;
    for (const auto& file : files)
      moved[starts_with(file.first, prefix) ? to + file.first.substr(from.size()) : file.first] =
          file.second;
    files = moved;
    std::set<std::string> programs;
    for (const std::string& path : executables)
      programs.insert(starts_with(path, prefix) ? to + path.substr(from.size()) : path);
    executables = programs;
    return Done{};
  }
  Result<Done> remove_tree(const std::string& path) override {
    auto below = [&](const std::string& p) { return p == path || starts_with(p, path + "/"); };
    for (auto it = files.begin(); it != files.end();)
      it = below(it->first) ? files.erase(it) : std::next(it);
    for (auto it = links.begin(); it != links.end();)
      it = below(it->first) ? links.erase(it) : std::next(it);
    for (auto it = directories.begin(); it != directories.end();)
      it = below(*it) ? directories.erase(it) : std::next(it);
    return Done{};
  }
  Outcome run(const Command& command) override {
    ran.push_back(command);
    if (on_run) return on_run(command);
    Outcome o;
    o.why = "No such file or directory";
    return o;
  }
  List<Outcome> run_all(const List<Command>& commands, int) override {
    List<Outcome> out;
    for (const Command& c : commands) out.push_back(run(c));
    return out;
  }
  // The child that on_run answers for, its output line by line; what is asked goes to `asked`, and
  // on_ask, where there is one, answers it.
  std::function<std::string(const std::string&)> on_ask;
  List<std::string> asked;
  std::unique_ptr<Talk> talk(const Command& command) override {
    class MemoryTalk : public Talk {
     public:
      MemoryTalk(MemoryHost& host, Outcome outcome) : host_(host), outcome_(std::move(outcome)) {}
      bool ask(const std::string& line, int&, std::string& answer) override {
        if (!line.empty()) host_.asked.push_back(line);
        if (!line.empty() && host_.on_ask) outcome_.out += host_.on_ask(line);
        const size_t end = outcome_.out.find('\n');
        if (end == std::string::npos) return false;
        answer = outcome_.out.substr(0, end);
        outcome_.out.erase(0, end + 1);
        return true;
      }
      Outcome end() override { return outcome_; }

     private:
      MemoryHost& host_;
      Outcome outcome_;
    };
    return std::make_unique<MemoryTalk>(*this, run(command));
  }
  // What foreground() was asked, and what comes of it.
  List<Command> started;
  bool waited = false;
  Outcome ends = exits(0);
  std::function<void(MemoryHost&)> on_start;  // what the command leaves behind
  Outcome foreground(const Command& command, bool wait) override {
    started.push_back(command);
    waited = wait;
    if (on_start) on_start(*this);
    return ends;
  }
  int cores() const override { return 2; }
  int64_t now() const override { return 1800000000; }
  SystemNames system() const override { return {"Linux", "x86_64", "6.1.0-test", "2.36"}; }
  std::string cwd() const override { return "/cwd"; }
  std::string self() const override { return "/self/tcstack"; }

 private:
  bool is_directory(const std::string& path) const {
    if (path == "/" || directories.count(path) != 0) return true;
    auto holds = [&](const std::string& p) { return starts_with(p, path + "/"); };
    for (const auto& file : files)
      if (holds(file.first)) return true;
    for (const auto& link : links)
      if (holds(link.first)) return true;
    for (const auto& folder : directories)
      if (holds(folder)) return true;
    return false;
  }
};

}  // namespace tcs
