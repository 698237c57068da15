// SPDX-License-Identifier: Apache-2.0
#include "plan/grammar.h"

#include <algorithm>

#include "base/text.h"
#include "tables/tables.h"

namespace tcs {

namespace {

using Kind = ArchToken::Kind;
using Issue = PlanIssue::Kind;

constexpr size_t kMostBytes = 4096;  // every architecture there is, with +PTX, takes some 400 bytes
constexpr size_t kMostRefusals = 10;
constexpr const char* kSeparators = "; \t";

struct Keyword {
  const char* text;
  Kind kind;
};
constexpr Keyword kKeywords[] = {{"native", Kind::Native}, {"all", Kind::All},
                                 {"All", Kind::All},       {"all-major", Kind::AllMajor},
                                 {"Auto", Kind::Defaults}, {"Common", Kind::Defaults}};

bool take_end(std::string_view& text, std::string_view end) {
  if (text.size() <= end.size() || !ends_with(text, end)) return false;
  text.remove_suffix(end.size());
  return true;
}

bool exact_dotted(std::string_view text, Sm& out) {
  return parse_sm_dotted(text, out) && out.dotted() == text;
}

bool exact_digits(std::string_view text, Sm& out) {
  return parse_sm_digits(text, out) && out.digits() == text;
}

// 8.6(8.0): machine code for 8.6 by way of PTX 8.0.
bool parse_pair(std::string_view text, ArchToken& out) {
  size_t open = text.find('(');
  if (open == std::string_view::npos || text.back() != ')') return false;
  if (!exact_dotted(text.substr(0, open), out.real) ||
      !exact_dotted(text.substr(open + 1, text.size() - open - 2), out.virt))
    return false;
  // What nvcc makes of compute_120f it calls sm_120f, also where sm_120 is asked for (13.0
  // to 13.5).
  if (out.virt.suffix == 'f' && out.real.plain() &&
      fits(Image{out.virt, true}, out.real) != Fit::None)
    out.real.suffix = 'f';
  return true;
}

bool parse_arch(std::string_view text, std::string_view dialect, ArchToken& out) {
  out.kind = Kind::Arch;
  bool real = take_end(text, "-real");
  bool virt = !real && take_end(text, "-virtual");
  if (real || virt) {
    out.cubin = real;
    out.ptx = virt;
    out.bare = dialect != "cmake";
    if (!exact_digits(text, out.real)) return false;
    out.virt = out.real;
    return true;
  }
  out.ptx = take_end(text, "+PTX");
  if (parse_pair(text, out)) return true;
  bool named = starts_with(text, "sm_") && exact_digits(text.substr(3), out.real);
  if (!named && !exact_dotted(text, out.real)) {
    if (!exact_digits(text, out.real)) return false;
    out.bare = dialect != "cmake";
    out.ptx = out.ptx || dialect == "cmake";
  }
  out.virt = out.real;
  return true;
}

bool parse_name(std::string_view text, ArchToken& out) {
  out.ptx = take_end(text, "+PTX");
  out.kind = Kind::Name;
  out.name = std::string(text);
  for (const TorchNameRow& row : torch_name_rows()) {
    if (text == row.name) return true;
  }
  return false;
}

bool parse_token(std::string_view text, std::string_view dialect, ArchToken& out) {
  for (const Keyword& word : kKeywords) {
    out.kind = word.kind;
    if (text == word.text) return true;
  }
  ArchToken arch = out;
  if (parse_arch(text, dialect, arch)) {
    out = arch;
    return true;
  }
  return parse_name(text, out);
}

// A help must not lead into the next error: only what some nvcc builds is offered.
bool offers(std::string_view text) {
  ArchToken token;
  if (!parse_token(text, "torch", token)) return false;
  return token.kind != Kind::Arch ||
         (find_arch(token.real) != nullptr && find_arch(token.virt) != nullptr &&
          can_assemble(token.virt, token.real));
}

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("_.+-()").find(c) != std::string_view::npos;
}

// Other names of an architecture that PyTorch has a name for.
struct OtherName {
  const char* small;
  const char* name;
};
constexpr OtherName kOtherNames[] = {
    {"lovelace", "Ada"},     {"adalovelace", "Ada"}, {"ada-lovelace", "Ada"},
    {"ada_lovelace", "Ada"}, {"rtx20", "Turing"},    {"rtx30", "8.6"},
    {"rtx40", "Ada"},        {"rtx50", "12.0"},      {"gracehopper", "Hopper"},
    {"orin", "8.7"},         {"thor", "11.0"}};

// The nearest name or keyword: the same letters in another case, or two letters apart at most.
std::string nearest_word(std::string_view text) {
  std::string best;
  size_t distance = std::min<size_t>(3, text.size() / 2);
  auto try_word = [&](const char* word) {
    size_t d = edit_distance(lower(text), lower(word));
    if (d < distance) {
      distance = d;
      best = word;
    }
  };
  if (text.size() > 32) return best;
  for (const OtherName& row : kOtherNames)
    if (lower(text) == row.small) return row.name;
  for (const TorchNameRow& row : torch_name_rows()) try_word(row.name);
  for (const Keyword& word : kKeywords) try_word(word.text);
  return best;
}

// sm89, sm-89, cc8.9, compute-89: no consumer reads these.
std::string without_prefix(std::string_view small) {
  for (std::string_view prefix : {"sm", "cc", "compute"}) {
    if (!starts_with(small, prefix)) continue;
    std::string_view rest = small.substr(prefix.size());
    if (!rest.empty() && (rest[0] == '-' || rest[0] == '_')) rest.remove_prefix(1);
    const bool ptx = take_end(rest, "+PTX") || prefix == "compute";
    Sm sm;
    if ((exact_digits(rest, sm) || exact_dotted(rest, sm)) && find_arch(sm))
      return sm.dotted() + (ptx ? "+PTX" : "");
  }
  return {};
}

// What the user most likely meant, when it can be said for certain; "" otherwise.
std::string correction(std::string_view text) {
  constexpr std::string_view kOtherSeparators = ",/|:\n\r";
  // 8,6: a decimal comma.
  if (const std::string dotted = replace_all(text, ",", "."); dotted != text && offers(dotted))
    return dotted;
  if (text.find_first_of(kOtherSeparators) != std::string_view::npos) {
    List<std::string> pieces = split(text, kOtherSeparators);
    for (const std::string& piece : pieces) {
      if (!offers(piece)) return {};
    }
    return join(pieces, ";");
  }
  std::string plain;
  for (char c : text) {
    if (is_word(c)) plain += c;
  }
  std::string small = replace_all(lower(plain), "+ptx", "+PTX");
  std::string dotted_virtual = replace_all(small, ".", "");
  std::string_view rest = plain;
  Sm sm;
  if (starts_with(rest, "compute_") && exact_digits(rest.substr(8), sm) && find_arch(sm))
    return sm.dotted() + "+PTX";
  for (const std::string& candidate : {plain, small, dotted_virtual}) {
    if (candidate != text && offers(candidate)) return candidate;
  }
  if (const std::string prefixed = without_prefix(small); !prefixed.empty()) return prefixed;
  bool ptx = take_end(rest, "+ptx");
  if (!parse_sm_dotted(rest, sm) || !find_arch(sm)) return {};
  return sm.dotted() + (ptx ? "+PTX" : "");
}

// +PTX after a blank or a semicolon: it belongs to the entry before it.
PlanIssue lone_ptx(std::string_view text, const ArchTokens& before) {
  PlanIssue issue;
  issue.kind = Issue::Malformed;
  issue.token = std::string(text);
  issue.detail = "+PTX is the end of an entry, with nothing between them: 8.0+PTX";
  if (!before.tokens.empty() && !before.tokens.back().ptx)
    issue.corrected = before.tokens.back().text + "+PTX";
  if (!offers(issue.corrected)) issue.corrected.clear();
  return issue;
}

bool name_gpu(std::string_view text, PlanIssue& issue) {
  const List<const GpuRow*> gpus = gpus_named(text);
  if (gpus.size() == 1) {
    issue.corrected = gpus[0]->sm.dotted();
    issue.detail = cat(gpus[0]->name, " is a GPU; its capability is ", issue.corrected);
  } else if (!gpus.empty()) {
    issue.detail = "it may be " + gpu_texts(gpus);
  }
  return !gpus.empty();
}

// A GPU's name with blanks in it, which are separators of a list: "RTX 4090"; its length, 0 where
// there is none.
size_t gpu_with_blanks(std::string_view list, size_t at, PlanIssue& issue) {
  const std::string_view text = trim(list.substr(at, list.find(';', at) - at));
  if (!contains(text, " ") || !name_gpu(text, issue)) return 0;
  issue.kind = Issue::UnknownName;
  issue.token = quotable(text);
  issue.position = static_cast<int>(at);
  issue.by_user = true;
  return text.size();
}

PlanIssue refusal(std::string_view text, int position) {
  PlanIssue issue;
  issue.token = quotable(text);
  issue.position = position;
  issue.by_user = true;
  issue.corrected = correction(text);
  bool words = std::all_of(text.begin(), text.end(), is_word);
  bool number = text[0] >= '0' && text[0] <= '9';
  issue.kind = !words || number || !issue.corrected.empty() ? Issue::Malformed : Issue::UnknownName;
  if (!words && issue.corrected.empty()) {
    issue.detail = "an arch list is plain text: nothing in it is expanded or run";
  } else if (issue.kind == Issue::Malformed) {
    issue.detail = "architectures are written 8.6, 8.6+PTX, 9.0a or sm_90, with ';' between them";
  } else if (!name_gpu(text, issue)) {
    issue.corrected = nearest_word(text);
  }
  return issue;
}

PlanIssue bad_pair(const ArchToken& token) {
  PlanIssue issue;
  issue.kind = Issue::Malformed;
  issue.token = token.text;
  issue.position = token.position;
  issue.by_user = true;
  if (token.virt.base() == token.real.base()) {
    issue.corrected = token.virt.dotted();  // 9.0(9.0a): the suffix is the point of it
  } else if (token.virt.plain() && token.real.plain() && can_assemble(token.real, token.virt)) {
    issue.corrected = cat(token.virt.dotted(), "(", token.real.dotted(), ")");
  }
  issue.detail = cat("nvcc cannot make ", token.real.real(), " code from ", token.virt.virt());
  return issue;
}

PlanIssue too_long(std::string_view list) {
  PlanIssue issue;
  issue.kind = Issue::Malformed;
  issue.token = quotable(list);
  issue.detail = cat("the list is ", list.size(), " bytes long, the limit is ", kMostBytes);
  issue.by_user = true;
  return issue;
}

void parse_one(std::string_view text, int position, std::string_view dialect, ArchTokens& out) {
  ArchToken token;
  token.text = std::string(text);
  token.position = position;
  if (lower(text) == "+ptx") {
    PlanIssue issue = lone_ptx(text, out);
    issue.position = position;
    issue.by_user = true;
    out.issues.push_back(issue);
  } else if (!parse_token(text, dialect, token)) {
    out.issues.push_back(refusal(text, position));
  } else if (token.kind == Kind::Arch && !can_assemble(token.virt, token.real)) {
    out.issues.push_back(bad_pair(token));
  } else {
    out.tokens.push_back(token);
  }
}

}  // namespace

bool can_assemble(const Sm& virt, const Sm& real) {
  if (virt == real) return true;
  return virt.suffix != 'a' && fits(Image{virt, true}, real.base()) == Fit::Jit;
}

std::string quotable(std::string_view token) {
  const char* hex = "0123456789abcdef";
  std::string out;
  for (char c : token) {
    unsigned char byte = static_cast<unsigned char>(c);
    if (out.size() >= 60) return out + "...";
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    }
  }
  return out;
}

bool is_unset_list(std::string_view list, std::string_view dialect) {
  if (list.find_first_not_of(kSeparators) == std::string_view::npos) return true;
  if (dialect != "cmake") return false;
  std::string word = lower(trim(list));
  return word == "off" || word == "no" || word == "false" || word == "n" || word == "0" ||
         word == "ignore" || word == "notfound" || ends_with(word, "-notfound");
}

ArchTokens parse_arch_list(std::string_view list, std::string_view dialect) {
  ArchTokens out;
  if (list.size() > kMostBytes) {
    out.issues.push_back(too_long(list));
    return out;
  }
  List<std::string_view> seen;
  size_t refused = 0;
  size_t at = 0;
  while ((at = list.find_first_not_of(kSeparators, at)) != std::string_view::npos) {
    std::string_view text = list.substr(at, list.find_first_of(kSeparators, at) - at);
    PlanIssue gpu;
    const size_t name = gpu_with_blanks(list, at, gpu);
    if (name != 0) text = list.substr(at, name);
    if (!contains(seen, text)) {
      seen.push_back(text);
      if (name != 0)
        out.issues.push_back(gpu);
      else
        parse_one(text, static_cast<int>(at), dialect, out);
      if (out.issues.size() > kMostRefusals) {
        out.issues.pop_back();
        ++refused;
      }
    }
    at += text.size();
  }
  if (refused != 0) {
    std::string& detail = out.issues.back().detail;
    detail += cat(detail.empty() ? "" : "; ", refused, " more entries are refused");
  }
  return out;
}

}  // namespace tcs
