// SPDX-License-Identifier: Apache-2.0
#include "readers/archive.h"

#include "base/text.h"

namespace tcs {
namespace {

constexpr uint64_t kHeader = 60;
constexpr uint64_t kMaxSize = 1ull << 50;
constexpr uint32_t kMaxMembers = 1u << 20;

}  // namespace

Result<bool> Archive::next(ArMember& out) {
  while (at_ < window_.size()) {
    Bytes header;
    if (!window_.get(at_, kHeader, header)) return window_.truncated(at_, kHeader, "an ar header");
    if (header.view().substr(58) != "`\n") {
      return window_.wrong(at_ + 58, "an ar header does not end with '`' and a line feed");
    }
    std::string_view size = trim(header.view().substr(48, 10));
    if (!parse_number(size, kMaxSize, out.size)) {
      return window_.wrong(at_ + 48, cat("the size of an ar member is '", tail(size, 10),
                                         "'; expected a decimal number"));
    }
    out.name = trim(header.view().substr(0, 16));
    out.offset = at_ + kHeader;
    if (out.size > window_.size() - out.offset) {
      return window_.truncated(out.offset, out.size, "an ar member");
    }
    if (++members_ > kMaxMembers)
      return window_.wrong(at_, cat("more than ", kMaxMembers, " members"));
    if (starts_with(out.name, "#1/"))
      return window_.wrong(at_, "a BSD archive; expected a GNU one");
    at_ = out.offset + out.size + (out.size & 1);
    if (out.name == "//") names_ = out;
    if (out.name == "//" || out.name == "/" || out.name == "/SYM64/") continue;
    out.name = long_name(out.name);
    return true;
  }
  return false;
}

// "a.o/" is a name, "/123" an offset into the table, where "a_long_name.o/" and a line feed end it.
std::string Archive::long_name(const std::string& name) {
  uint64_t offset = 0;
  std::string text = name;
  if (name[0] == '/') {
    if (!parse_number(name.substr(1), kMaxSize, offset) || offset >= names_.size) return name;
    window_.text(names_.offset + offset, names_.offset + names_.size, 256, text);
  }
  return text.substr(0, text.find('/'));
}

}  // namespace tcs
