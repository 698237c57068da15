// SPDX-License-Identifier: Apache-2.0
// `tcstack check` in this process: the verb itself, with the two files in memory.
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "memory_host.h"
#include "tool/verbs.h"

extern "C" __attribute__((weak)) void __sanitizer_set_report_fd(void* fd);

namespace fuzz {

// What is written to standard error while it lives. A sanitizer's report still goes to the real
// one.
class Stderr {
 public:
  Stderr() : real_(dup(2)), kept_(memfd_create("stderr", 0)) {
    if (__sanitizer_set_report_fd && real_ >= 0)
      __sanitizer_set_report_fd(reinterpret_cast<void*>(static_cast<intptr_t>(real_)));
    dup2(kept_, 2);
  }
  ~Stderr() {
    if (real_ >= 0) {
      dup2(real_, 2);
      if (__sanitizer_set_report_fd)
        __sanitizer_set_report_fd(reinterpret_cast<void*>(static_cast<intptr_t>(2)));
      close(real_);
    } else {
      close(2);
    }
    close(kept_);
  }
  Stderr(const Stderr&) = delete;
  Stderr& operator=(const Stderr&) = delete;
  std::string text() const {
    const off_t size = lseek(kept_, 0, SEEK_END);
    std::string out(size > 0 ? static_cast<size_t>(size) : 0, '\0');
    const ssize_t got = pread(kept_, &out[0], out.size(), 0);
    out.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return out;
  }

 private:
  int real_, kept_;
};

struct Answer {
  int status = -1;
  std::string out, err;
};

inline Answer check_machine(const std::string& facts, const std::string& request,
                            const char* format) {
  tcs::MemoryHost host;
  host.files["/facts.json"] = facts;
  host.files["/request.json"] = request;
  Answer answer;
  {
    const Stderr kept;
    answer.status = tcs::verb_check(host, {"--facts", "/facts.json", "--request", "/request.json",
                                           "--format", format, "--out", "/answer"});
    answer.err = kept.text();
  }
  answer.out = host.files["/answer"];
  return answer;
}

// "line 12, column 7" anywhere in `text`; or what is wrong is the file as a whole.
inline bool names_place(const std::string& text) {
  for (const char* whole : {".json: is empty", ".json: is UTF-", ".json: has "})
    if (tcs::contains(text, whole)) return true;
  auto digits = [&](size_t at) {
    size_t end = at;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    return end;
  };
  for (size_t at = text.find("line "); at != std::string::npos; at = text.find("line ", at + 1)) {
    const size_t line = digits(at + 5);
    if (line == at + 5 || text.compare(line, 9, ", column ") != 0) continue;
    if (digits(line + 9) > line + 9) return true;
  }
  return false;
}

// "" when the answer is one that `check` may give.
inline std::string wrong_answer(int status, const std::string& out, const std::string& err) {
  if (status < 0 || status > 2) return tcs::cat("exit status ", status);
  if (status == 2 && !names_place(err)) return "a refusal without a place: " + err;
  if (status == 2 && !out.empty()) return "a refusal with an answer";
  if (status != 2 && out.empty()) return "no answer";
  return "";
}

}  // namespace fuzz
