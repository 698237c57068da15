// SPDX-License-Identifier: Apache-2.0
#include "readers/archive.h"

#include <algorithm>

#include "base/text.h"

namespace tcs {
namespace {

constexpr uint64_t kHeaderSize = 60;
constexpr uint64_t kMaxMember = 1ull << 50;
constexpr uint64_t kMaxName = 255;
constexpr uint32_t kMaxMembers = 1u << 20;

std::string_view field(const Bytes& header, size_t offset, size_t length) {
  return trim(header.view().substr(offset, length));
}

}  // namespace

Result<bool> Archive::next(ArMember& out) {
  for (;;) {
    Result<bool> more = header(out);
    if (!more || !*more) return more;
    if (out.name == "//") {
      names_at_ = out.offset;
      names_size_ = out.size;
      continue;
    }
    if (out.name == "/" || out.name == "/SYM64/" || starts_with(out.name, "__.SYMDEF")) continue;
    Result<Done> done = long_name(out);
    if (!done) return done.error();
    if (starts_with(out.name, "__.SYMDEF")) continue;
    return true;
  }
}

Result<bool> Archive::header(ArMember& out) {
  if (at_ >= window_.size()) return false;
  Bytes bytes;
  if (!window_.get(at_, kHeaderSize, bytes))
    return window_.truncated(at_, kHeaderSize, "an ar header");
  if (bytes.view().substr(58) != "`\n") {
    return window_.wrong(at_ + 58, "an ar header does not end with '`' and a line feed");
  }
  out.name = field(bytes, 0, 16);
  uint64_t size = 0;
  if (!parse_number(field(bytes, 48, 10), kMaxMember, size)) {
    return window_.wrong(at_ + 48,
                         cat("the size of an ar member is '", tail(field(bytes, 48, 10), 10),
                             "'; expected a decimal number"));
  }
  if (size > window_.size() - at_ - kHeaderSize)
    return window_.truncated(at_ + kHeaderSize, size, "an ar member");
  if (++members_ > kMaxMembers)
    return window_.wrong(at_, cat("more than ", kMaxMembers, " members"));
  out.offset = at_ + kHeaderSize;
  out.size = size;
  at_ = out.offset + size + (size & 1);
  return true;
}

// GNU: "/123" is an offset into "//", where names end with "/\n". BSD: "#1/20", the name is the
// first 20 bytes of the content.
Result<Done> Archive::long_name(ArMember& out) {
  uint64_t number = 0;
  uint64_t place = out.offset - kHeaderSize;
  Bytes bytes;
  if (starts_with(out.name, "#1/")) {
    if (!parse_number(out.name.substr(3), std::min(kMaxName, out.size), number) ||
        !names_.get(out.offset, static_cast<size_t>(number), bytes)) {
      return names_.wrong(place, cat("the name of an ar member is '", tail(out.name, 16),
                                     "', longer than the member or than ", kMaxName, " bytes"));
    }
    out.name = bytes.view().substr(0, bytes.view().find('\0'));
    out.offset += number;
    out.size -= number;
    return Done{};
  }
  if (!starts_with(out.name, "/")) {
    if (ends_with(out.name, "/")) out.name.pop_back();
    return Done{};
  }
  if (names_size_ == 0 || !parse_number(out.name.substr(1), names_size_ - 1, number) ||
      !names_.get(names_at_ + number,
                  static_cast<size_t>(std::min<uint64_t>(kMaxName, names_size_ - number)), bytes)) {
    return names_.wrong(place, cat("the name of an ar member is '", tail(out.name, 16),
                                   "', but the table of long names has ", names_size_, " bytes"));
  }
  out.name = bytes.view().substr(0, std::min(bytes.view().find('/'), bytes.view().find('\n')));
  return Done{};
}

}  // namespace tcs
