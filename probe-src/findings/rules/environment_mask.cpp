// SPDX-License-Identifier: Apache-2.0
// How CUDA_VISIBLE_DEVICES is read. Sources: CUDA Programming Guide 5.2.1.1 (indices, GPU- and MIG-
// identifiers or a unique beginning of one, an invalid entry hides itself and all after it, one MIG
// instance), and _parse_visible_devices of torch/cuda/__init__.py in 2.15 (a number is read up to
// the first other character, a repeated entry hides all, another form ends the list).
#include <algorithm>

#include "findings/rules/environment.h"

namespace tcs {
namespace {

enum class Form { Index, Gpu, Mig, None };

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool only(std::string_view text, const char* others) {
  for (char c : text)
    if (!is_hex(c) && std::string_view(others).find(c) == std::string_view::npos) return false;
  return true;
}

Form form_of(std::string_view text) {
  if (starts_with(text, "GPU-") && only(text.substr(4), "-")) return Form::Gpu;
  if (starts_with(text, "MIG-GPU-") && only(text.substr(8), "-/")) return Form::Mig;
  if (starts_with(text, "MIG-") && only(text.substr(4), "-")) return Form::Mig;
  const size_t sign = starts_with(text, "+") ? 1 : 0;
  return text.size() > sign && is_digit(text[sign]) ? Form::Index : Form::None;
}

// "3" of "+3" and of "03 4".
std::string number_of(std::string_view text) {
  size_t begin = starts_with(text, "+") ? 1 : 0;
  size_t end = begin;
  while (end < text.size() && is_digit(text[end])) ++end;
  while (begin + 1 < end && text[begin] == '0') ++begin;
  return std::string(text.substr(begin, end - begin));
}

struct WordRow {
  const char* word;  // in small letters
  const char* why;
};
constexpr WordRow kWords[] = {
    {"all",
     "'all' is a word of NVIDIA_VISIBLE_DEVICES, which containers read; CUDA does not know "
     "it: unset the variable for all GPUs"},
    {"none", "'none' is a word of NVIDIA_VISIBLE_DEVICES, which containers read"},
    {"void", "'void' is a word of NVIDIA_VISIBLE_DEVICES, which containers read"},
};

std::string why_no_form(std::string_view text) {
  for (const WordRow& row : kWords)
    if (lower(text) == row.word) return row.why;
  if (text.empty()) return "an empty entry is invalid";
  if (text[0] == '"' || text[0] == '\'') return "the quotes are part of the value";
  if (text[0] == '-') return "a negative index ends the list";
  if (starts_with(lower(text), "gpu-") || starts_with(lower(text), "mig-"))
    return "a UUID is written as nvidia-smi -L prints it: GPU- or MIG- in capitals, then digits "
           "and "
           "a to f";
  if (starts_with(lower(text), "cuda:") || starts_with(lower(text), "gpu"))
    return "an index is a plain number";
  return "it is neither an index nor a UUID";
}

std::string why_cut(std::string_view text, const std::string& number) {
  if (text.size() >= 8 && only(text, "-") && contains(text, "-") && text.find('-') == 8)
    return "a GPU's UUID begins with GPU-";
  const std::string read =
      cat("a number is read up to the first other character, here as ", number);
  return text.find_first_of(";:/| .-") == std::string_view::npos
             ? read
             : read + "; entries are separated by commas";
}

MaskFault fault(int entry, std::string_view text, std::string why, bool hides) {
  MaskFault f;
  f.entry = entry;
  f.text = std::string(text);
  f.why = std::move(why);
  f.hides = hides;
  return f;
}

// Meant to hide: nothing, -1 or a word for none that stands alone or last.
bool ends_on_purpose(std::string_view text) {
  if (text.size() > 1 && text[0] == '-' && is_digit(text[1])) return true;
  for (const char* word : {"", "none", "void", "nodevfiles"})
    if (lower(text) == word) return true;
  return false;
}

bool rest_is_empty(const List<std::string>& all, size_t from) {
  for (size_t i = from; i < all.size(); ++i)
    if (!all[i].empty()) return false;
  return true;
}

// The entries, blanks at their ends off, empty ones kept.
List<std::string> entries_of(std::string_view mask) {
  List<std::string> out;
  for (size_t begin = 0; begin <= mask.size();) {
    const size_t end = std::min(mask.find(',', begin), mask.size());
    out.push_back(std::string(trim(mask.substr(begin, end - begin))));
    begin = end + 1;
  }
  return out;
}

// How many of the GPUs `text` names, a UUID or the beginning of one.
int matches(std::string_view text, const List<MaskDevice>& devices) {
  int count = 0;
  for (const MaskDevice& device : devices)
    if (starts_with(lower(device.uuid.value()), lower(text))) ++count;
  return count;
}

// Where hidden GPUs are listed too, all of the machine are.
MaskFault fault_in_all(const List<std::string>& entries, const List<MaskDevice>& devices) {
  bool uuids = true;
  for (const MaskDevice& device : devices) uuids = uuids && device.uuid.known();
  const std::string count = devices.size() == 1 ? "there is one GPU here"
                                                : cat("there are ", devices.size(), " GPUs here");
  for (size_t i = 0; i < entries.size(); ++i) {
    const Form form = form_of(entries[i]);
    const int at = static_cast<int>(i);
    uint64_t index = 0;
    if (form == Form::Index && !parse_number(entries[i], devices.size() - 1, index))
      return fault(at, entries[i], count + ", counted from 0", true);
    if (form != Form::Gpu) continue;
    const int found = matches(entries[i], devices);
    if (found == 1) continue;
    MaskFault f = fault(at, entries[i],
                        found == 0 ? "no GPU here has that UUID"
                                   : cat("the UUIDs of ", found, " GPUs here begin so"),
                        true);
    if (found == 0 && !uuids) {
      f.entry = -1;
      f.lacks_uuid = true;
    }
    return f;
  }
  return {};
}

}  // namespace

MaskFault fault_in_form(const std::string& mask, List<std::string>& entries) {
  const List<std::string> all = entries_of(mask);
  Form first = Form::None;
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string& text = all[i];
    const int at = static_cast<int>(i);
    const bool last = rest_is_empty(all, i + 1);
    const Form form = form_of(text);
    if (form == Form::None) {
      if (last && ends_on_purpose(text)) return {};
      return fault(at, text, why_no_form(text), true);
    }
    if (i == 0) first = form;
    if (form != first)
      return fault(at, text, "indices and UUIDs are not mixed: another form ends the list", true);
    const std::string name = form == Form::Index ? number_of(text) : text;
    if (contains(entries, name)) return fault(at, text, "a repeated entry hides all GPUs", true);
    if (form == Form::Mig && i > 0)
      return fault(at, text, "a process uses one MIG instance, the first that is named", true);
    entries.push_back(name);
    if (form == Form::Index && text.find_first_not_of("+0123456789") != std::string::npos)
      return fault(at, text, why_cut(text, name), true);
  }
  return {};
}

bool hides_all(const Facts& facts) {
  const std::string* set = facts.environment.find("CUDA_VISIBLE_DEVICES");
  return set && ends_on_purpose(entries_of(*set)[0]);
}

MaskFault fault_in_mask(const std::string& mask, const List<MaskDevice>& devices) {
  List<std::string> entries;
  MaskFault form = fault_in_form(mask, entries);
  if (devices.empty()) return form;
  int visible = 0;
  for (const MaskDevice& device : devices) visible += device.visible ? 1 : 0;
  const bool whole = visible < static_cast<int>(devices.size());
  if (whole) {
    const MaskFault f = fault_in_all(entries, devices);
    return f.entry >= 0 || f.lacks_uuid ? f : form;
  }
  // Only what the driver lets through is listed, in the order of the entries.
  if (visible >= static_cast<int>(entries.size())) return form;
  const bool more = form.entry >= 0 || visible + 1 < static_cast<int>(entries.size());
  const std::string shown = visible == 1 ? "one GPU is visible" : cat(visible, " GPUs are visible");
  return fault(visible, entries[static_cast<size_t>(visible)],
               form.entry >= 0 ? shown
                               : cat(entries.size(), entries.size() == 1 ? " entry" : " entries",
                                     ", and ", shown),
               more);
}

}  // namespace tcs
