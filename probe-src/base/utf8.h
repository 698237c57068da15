// SPDX-License-Identifier: Apache-2.0
// UTF-8, as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tcs {

// Length in bytes of the well-formed sequence at the start of `text`; 0 when there is none.
size_t utf8_length(std::string_view text);
void append_utf8(std::string& out, uint32_t code);

// How wide it is on a terminal: two columns for each character of Chinese.
size_t display_width(std::string_view text);

// One line of printable ASCII, for text that comes from outside: other bytes are shown as \xNN.
std::string ascii(std::string_view text);

}  // namespace tcs
