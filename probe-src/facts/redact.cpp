// SPDX-License-Identifier: Apache-2.0
// One scan over each text: at every place the kinds of replaced() are tried in turn, and the first
// that takes something replaces it. It walks the JSON and not the struct, so a new member is
// covered.
#include "facts/redact.h"

#include "base/text.h"
#include "facts/redact_text.h"

namespace tcs {
namespace {

using namespace redaction;

// Words that name nobody, though a user or a machine may be called so; facts are made of them.
const char* const kCommonWords =
    "root user users home ubuntu debian fedora linux windows nvidia cuda torch pytorch python "
    "python3 conda mamba docker jetson localhost localdomain runner admin build builder dev test "
    "tests ci lib lib64 include bin opt usr local pip venv default system none measured declared "
    "replayed loaded other driver compat stub wsl found absent broken missing wrong ok error "
    "mismatch native run runs refused gnu clang msvc nvcc gcc extension work workspace data tmp "
    "src "
    "main host name app node gpu mig distribution x86_64 aarch64 cpu rocm xpu headers nvrtc cudart "
    "cublas cudnn nvvm ptxas cicc arch link hang crash start output toolkit stack shared public "
    "true false path version nvml jit no yes my the a in of is to and or not for from by at it as "
    "compute lto cxx etc var mnt srv run proc sys nix snap scratch media net";

// Whose names may stay: they are everybody's.
const char* const kPublicHosts =
    "pytorch.org nvidia.com nvidia.cn pypi.org pythonhosted.org anaconda.org anaconda.com "
    "conda.io github.com githubusercontent.com github.io gitlab.com huggingface.co docker.io "
    "docker.com nvcr.io ghcr.io quay.io debian.org ubuntu.com python.org cmake.org kitware.com "
    "gnu.org llvm.org kernel.org readthedocs.io";
const char* const kTopLevel =
    "com org net edu gov io ai cloud de fr uk us eu ch at nl it es se no fi dk jp "
    "cn kr tw ca au br ru cz be";
const char* const kPrivateTopLevel = "local lan internal intranet corp localdomain";

// How the tokens of well-known services begin, and how much follows at least.
struct TokenForm {
  const char* prefix;
  size_t more;
};
const TokenForm token_forms[] = {
    {"ghp_", 8},        {"gho_", 8},      {"ghu_", 8},    {"ghs_", 8},     {"ghr_", 8},
    {"github_pat_", 8}, {"glpat-", 8},    {"hf_", 8},     {"AKIA", 12},    {"ASIA", 12},
    {"sk-", 16},        {"xoxb-", 8},     {"xoxp-", 8},   {"xoxa-", 8},    {"npm_", 20},
    {"pypi-", 16},      {"eyJ", 16},      {"ya29.", 8},   {"AIza", 20},    {"SG.", 16},
    {"nvapi-", 8},      {"dckr_pat_", 8}, {"dop_v1_", 8}, {"sk_live_", 8}, {"rk_live_", 8},
    {"sk_test_", 8},    {"whsec_", 8},
};
const char* const kSecretWords =
    "password passwd passphrase pass pgpass pwd pat session cookie webhook token secret apikey "
    "api_key api-key access_key access-key "
    "private_key credential credentials authorization bearer basic";
// What a value is given to without a sign: "passwd hunter2", "Bearer abc".
const char* const kSignless = "password passwd passphrase bearer basic";
const char* const kUserWords = "user username logname login owner account";

// Folders whose folders are called as people are. Of `from_root` it is so at the root only.
struct HomeForm {
  const char* folder;
  bool from_root;
};
const HomeForm home_forms[] = {
    {"home", false}, {"homes", false},    {"users", false}, {"documents and settings", false},
    {"media", true}, {"run/media", true},
};
// What stands before a server's name.
const char* const server_forms[] = {"\\\\", "//", "/net/"};

struct Numbered {  // "<what-3>" for the third value
  const char* what;
  List<std::string> values;
  size_t index(std::string_view value) {
    size_t i = 0;
    while (i < values.size() && values[i] != value) ++i;
    if (i == values.size()) values.push_back(std::string(value));
    return i;
  }
  std::string name(std::string_view value) { return cat("<", what, "-", index(value) + 1, ">"); }
};

class Redactor {
 public:
  explicit Redactor(const Identity& own) : own_(own) {
    for (const auto& user : own.users) learn_user(user);
  }

  // Twice over everything: the first time to learn the names, so that they are known everywhere.
  Json whole(const Json& facts) {
    learning_ = true;
    walk(facts, false);
    learning_ = false;
    return walk(facts, false);
  }

 private:
  struct Place {
    std::string_view text;  // all of it
    size_t i;
    std::string_view rest() const { return text.substr(i); }
    char before() const { return i > 0 ? text[i - 1] : '\0'; }
    bool word_start() const { return !is_word(before()); }
  };

  Json walk(const Json& node, bool environment) {
    Json out = node;
    in_environment_ = environment;
    if (node.is(Json::Kind::String)) out.text = scrub(node.text);
    for (auto& item : out.items) item = walk(item, environment);
    List<std::pair<std::string, Json>> kept;
    for (auto& [name, value] : out.members) {
      if (environment && names_a_secret(name)) continue;
      Json inner = walk(value, environment || name == "environment");
      kept.push_back({environment ? scrub(name) : name, std::move(inner)});
    }
    out.members = std::move(kept);
    return out;
  }

  std::string scrub(std::string_view text) {
    std::string out;
    for (size_t i = 0; i < text.size();) {
      size_t taken = text[i] == '<' ? placeholder(text.substr(i)) : 0;
      if (taken != 0)
        out += text.substr(i, taken);
      else
        taken = replaced(Place{text, i}, out);
      if (taken == 0) out += text[i];
      i += taken == 0 ? 1 : taken;
    }
    return out;
  }

  // How much of the text the first kind takes that knows what stands here.
  size_t replaced(const Place& p, std::string& out) {
    size_t n = 0;
    (n = own_home(p, out)) || (n = home_of(p, out)) || (n = numbered_user(p, out)) ||
        (n = domain_user(p, out)) || (n = address_of_url(p, out)) || (n = server(p, out)) ||
        (n = uuid(p, out)) || (n = token(p, out)) || (n = assigned(p, out)) ||
        (n = email(p, out)) || (n = ipv6(p, out)) || (n = full_name(p, out)) ||
        (n = ipv4(p, out)) || (n = own_name(p, out)) || (n = random(p, out));
    return n;
  }

  // "<user-1>" stays what it is: redacting twice changes nothing.
  static size_t placeholder(std::string_view rest) {
    const size_t end = rest.find('>');
    if (end == std::string_view::npos || end > 20) return 0;
    for (const char* what : {"<user-", "<home-", "<host-", "<secret-", "<email-", "<ip-"})
      if (starts_with(rest, what)) return end + 1;
    return 0;
  }

  void learn_user(std::string_view name) {
    if (name.size() >= 2 && digits_in(name) < name.size() && !one_of(name, kCommonWords))
      users_.name(name);
  }

  size_t own_home(const Place& p, std::string& out) {
    auto is_here = [&](std::string_view home) {
      const char next = at(p.rest(), home.size());
      return starts_with(p.rest(), home) && !is_word(next) && !in(".-", next);
    };
    for (const std::string& home : own_.homes)
      if (home != "/root" && is_here(home)) return put(out, "/", homes_.name(home), home.size());
    return is_here("/root") ? put(out, "/", homes_.name("/root"), 5) : 0;
  }

  // "/home/NAME", "/Users/NAME", "C:\Users\NAME", "%2Fhome%2FNAME", "/home2/NAME".
  size_t home_of(const Place& p, std::string& out) {
    const std::string_view rest = p.rest();
    const size_t first = separator(rest);
    if (first == 0) return 0;
    for (const HomeForm& form : home_forms) {
      if (!starts_with_any_case(rest.substr(first), form.folder)) continue;
      if (form.from_root && (is_word(p.before()) || in(".-", p.before()))) continue;
      size_t start = first + std::string_view(form.folder).size();
      while (!form.from_root && is_digit(at(rest, start))) ++start;
      const size_t second = separator(rest.substr(start));
      const size_t length = component(rest.substr(start + second), at(rest, start) == '/');
      if (second == 0 || length == 0) continue;
      start += second;
      const std::string number = a_user(rest.substr(start, length));
      return put(out, std::string(rest.substr(0, start)), number, start + length);
    }
    return 0;
  }
  // "Carol Smith" and "DOMAIN\carol" are known by each of their words as well.
  std::string a_user(std::string_view name) {
    const std::string number = users_.name(name);
    for (const auto& part : split(name, "\\"))
      for (const auto& word : split(part, " ")) learn_user(word);
    return number;
  }
  // The name in "uid=1000(carol)"
  size_t numbered_user(const Place& p, std::string& out) {
    if (at(p.rest(), 0) != '(' || !is_digit(p.before())) return 0;
    size_t digits = p.i;
    while (digits > 0 && is_digit(p.text[digits - 1])) --digits;
    const size_t length = run_of(p.rest().substr(1), "._-");
    if (digits == 0 || !in("=,", p.text[digits - 1]) || at(p.rest(), 1 + length) != ')') return 0;
    return user_at(p, 1, length, out);
  }
  // "DOMAIN\carol" that is no part of a path
  size_t domain_user(const Place& p, std::string& out) {
    const std::string_view rest = p.rest();
    if (is_word(p.before()) || in("/\\:.-", p.before())) return 0;
    size_t domain = 0;
    while (is_upper(at(rest, domain)) || is_digit(at(rest, domain)) || at(rest, domain) == '-')
      ++domain;
    if (domain < 2 || !is_upper(rest[0]) || at(rest, domain) != '\\') return 0;
    const size_t length = domain + 1 + run_of(rest.substr(domain + 1), "._-");
    return length == domain + 1 || is_slash(at(rest, length)) ? 0 : user_at(p, 0, length, out);
  }
  size_t user_at(const Place& p, size_t start, size_t length, std::string& out) {
    const std::string_view name = p.rest().substr(start, length);
    if (name.empty() || one_of(name, kCommonWords)) return 0;
    return put(out, std::string(p.rest().substr(0, start)), a_user(name), start + length);
  }

  size_t address_of_url(const Place& p, std::string& out) {
    const std::string_view rest = p.rest();
    if (!starts_with(rest, "://")) return 0;
    size_t end = 3;
    while (end < rest.size() && !in("/\\?# \t\n\"'`;,)", rest[end])) ++end;
    std::string_view authority = rest.substr(3, end - 3);
    out += "://";
    const size_t mark = authority.rfind('@');
    if (mark != std::string_view::npos) {
      const std::string_view user = authority.substr(0, mark);
      out += cat(placeholder(user) != 0 ? std::string(user) : secrets_.name(user), "@");
      authority.remove_prefix(mark + 1);
    }
    size_t name_end = authority.rfind(':');
    if (name_end == std::string_view::npos || at(authority, 0) == '[') name_end = authority.size();
    const std::string_view host = authority.substr(0, name_end);
    out += keeps(host) ? std::string(host) : hosts_.name(lower(host));
    out += authority.substr(name_end);
    return end;
  }
  static bool keeps(std::string_view host) {
    if (host.empty() || placeholder(host) != 0 || host == "localhost" || starts_with(host, "127."))
      return true;
    for (const auto& name : split(kPublicHosts, " "))
      if (lower(host) == name || ends_with(lower(host), cat(".", name))) return true;
    return false;
  }

  // "\\server\share", "//server/share", "/net/server"
  size_t server(const Place& p, std::string& out) {
    const std::string_view rest = p.rest();
    if (!in(std::string_view("\0 \"'=;,(:", 9), p.before())) return 0;
    for (std::string_view form : server_forms) {
      if (!starts_with(rest, form)) continue;
      const size_t length = run_of(rest.substr(form.size()), "._-"), end = form.size() + length;
      const std::string_view name = rest.substr(form.size(), length);
      // "C:\\x\\y" has all of them doubled; "//usr/lib" is on this machine.
      const bool drive = form[0] == '\\' && p.before() == ':' &&
                         !(at(rest, end) == '\\' && at(rest, end + 1) != '\\');
      if (length == 0 || drive || one_of(name, kCommonWords)) continue;
      return put(out, std::string(form), hosts_.name(lower(name)), end);
    }
    return 0;
  }

  // Stays a UUID, so that CUDA_VISIBLE_DEVICES names the same device, be it shortened.
  size_t uuid(const Place& p, std::string& out) {
    const std::string_view rest = p.rest();
    if (is_alnum(p.before()) || !is_hex(at(rest, 0))) return 0;
    const size_t full = whole_uuid(rest);
    if (full == 0) return short_uuid(p, out);
    return put(out, "",
               uuid_like(rest.substr(0, full), uuids_.index(lower(rest.substr(0, full))), full),
               full);
  }
  size_t short_uuid(const Place& p, std::string& out) {
    const std::string_view rest = p.rest(), head = p.text.substr(0, p.i);
    if (learning_ || !(ends_with(head, "GPU-") || ends_with(head, "MIG-"))) return 0;
    size_t length = 0;
    while (is_hex(at(rest, length)) || at(rest, length) == '-') ++length;
    if (length > 36 || is_word(at(rest, length))) return 0;
    const std::string given = lower(rest.substr(0, length));
    size_t found = 0, which = 0;
    for (size_t i = 0; i < uuids_.values.size(); ++i)
      if (starts_with(uuids_.values[i], given)) {
        ++found;
        which = i;
      }
    if (found > 1) return put(out, "", "a0", length);  // as ambiguous as it was
    if (found == 0) which = uuids_.index(given);
    return put(out, "", uuid_like(rest.substr(0, length), which, 8), length);
  }
  // "a0000001-0000-...": in capitals where it was, for who tells the two apart.
  static std::string uuid_like(std::string_view was, size_t number, size_t length) {
    const std::string zeros = "-0000-0000-0000-000000000000";
    if (was.size() == 36 && in("aA", was[0]) && was.substr(8) == zeros) return std::string(was);
    bool capitals = false;
    for (char c : was) capitals = capitals || is_upper(c);
    std::string digits = cat(number + 1);
    digits.insert(0, digits.size() < 7 ? 7 - digits.size() : 0, '0');
    return cat(capitals ? "A" : "a", digits, zeros).substr(0, length);
  }

  size_t token(const Place& p, std::string& out) {
    const std::string_view rest = p.rest();
    if (!p.word_start()) return 0;
    for (const TokenForm& form : token_forms) {
      const std::string_view prefix = form.prefix;
      if (!starts_with(rest, prefix)) continue;
      const size_t length = prefix.size() + run_of(rest.substr(prefix.size()), "_-.=");
      if (length >= prefix.size() + form.more) return secret(rest.substr(0, length), out);
    }
    return 0;
  }

  // "password=x", "token: x", "--token x", "Authorization: Bearer x", "user=x"
  size_t assigned(const Place& p, std::string& out) {
    const std::string_view rest = p.rest();
    if (is_alnum(p.before())) return 0;
    const size_t length = run_of(rest, "_-");
    const std::string word = lower(rest.substr(0, length));
    const bool user = ends_in(word, kUserWords);
    if (!user && !ends_in(word, kSecretWords)) return 0;
    size_t i = skip(rest, length, "\"' ");
    const bool says = in(":=", at(rest, i)), blank = i > length;
    if (says) i = skip(rest, i, ":=>\"' ");
    for (std::string_view scheme : {"Bearer ", "Basic ", "token "})
      if (says && starts_with_any_case(rest.substr(i), scheme)) i += scheme.size();
    size_t end = i;
    while (end < rest.size() && !in(" \t\n\"';,&", rest[end])) ++end;
    const std::string_view value = rest.substr(i, user ? run_of(rest.substr(i), "._-") : end - i);
    const bool option = starts_with(word, "--") || (p.before() == '-' && at(rest, length) == ' ');
    const bool given = says || (!user && blank && (option || signless(word, value)));
    if (value.empty() || rest[i] == '<' || !given) return 0;
    if (user && (one_of(value, kCommonWords) || digits_in(value) == value.size())) return 0;
    return put(out, std::string(rest.substr(0, i)), user ? a_user(value) : secrets_.name(value),
               i + value.size());
  }
  static bool signless(std::string_view word, std::string_view value) {  // not "basic block"
    const bool scheme = word == "bearer" || word == "basic";
    return one_of(word, kSignless) &&
           ((scheme && value.size() >= 12) || (value.size() >= 6 && digits_in(value) > 0));
  }

  size_t email(const Place& p, std::string& out) {
    const std::string_view rest = p.rest();
    if (is_word(p.before()) || in("._+%-", p.before())) return 0;
    const size_t user = run_of(rest, "._+%-");
    if (user == 0 || at(rest, user) != '@') return 0;
    size_t host = run_of(rest.substr(user + 1), ".-");
    while (host > 0 && in(".-", rest[user + host])) --host;  // the end of a sentence
    const std::string_view domain = rest.substr(user + 1, host);
    const bool release = is_digit(at(domain, 0)) && quad(domain) == 0;  // gcc@12.3
    if (host == 0 || release || contains(domain, ".so") ||
        starts_with(rest.substr(user + 1 + host), "://"))
      return 0;
    return put(out, "", emails_.name(rest.substr(0, user + 1 + host)), user + 1 + host);
  }

  // Also the address of a network card.
  size_t ipv6(const Place& p, std::string& out) {
    const std::string_view rest = p.rest();
    if (is_word(p.before()) || in(":.", p.before())) return 0;
    if (const size_t card = p.before() == '-' ? 0 : card_address(rest))
      return put(out, "", ips_.name(lower(rest.substr(0, card))), card);
    size_t end = 0, groups = 0, colons = 0;
    while (is_hex(at(rest, end)) || at(rest, end) == ':') {
      if (rest[end] == ':') {
        ++colons;
        ++end;
        continue;
      }
      const size_t length = while_hex(rest.substr(end));
      if (length > 4) return 0;
      ++groups;
      end += length;
    }
    const bool gap = contains(rest.substr(0, end), "::");
    const bool zone = gap && at(rest, end) == '%';  // fe80::1%eth0
    if (groups < 3 && !(gap && (zone || starts_with_any_case(rest, "fe80")))) return 0;
    if (!(colons >= 5 || gap) || is_word(at(rest, end))) return 0;
    if (zone) end += 1 + run_of(rest.substr(end + 1), "._-");
    return put(out, "", ips_.name(lower(rest.substr(0, end))), end);
  }

  // A version of four numbers looks the same: the whole of a text, or behind "==", "-" or "so.".
  size_t ipv4(const Place& p, std::string& out) {
    const std::string_view rest = p.rest();
    if (is_word(p.before()) || in(".-", p.before())) return 0;
    if (const size_t named = starts_with(rest, "ip-") ? quad(rest.substr(3), '-') : 0)
      return put(out, "ip-", ips_.name(rest.substr(3, named)), 3 + named);
    const size_t length = quad(rest);
    const char next = at(rest, length);
    const bool network = starts_with(rest, "192.168.");  // no release begins so
    if (length == 0 || is_word(next) || (in("-+", next) && !network) ||
        (next == '.' && is_digit(at(rest, length + 1))))
      return 0;
    const bool release =
        (length == p.text.size() && !in_environment_) || ends_with(p.text.substr(0, p.i), "==");
    if (release || starts_with(rest, "127.") || rest.substr(0, length) == "0.0.0.0") return 0;
    return put(out, "", ips_.name(rest.substr(0, length)), length);
  }

  // The longest name of a user or a machine that stands here as a word; from three letters on "_"
  // and digits may be joined to it: "alice_env", "alice2".
  size_t own_name(const Place& p, std::string& out) {
    if (is_alnum(p.before())) return 0;
    const std::string_view rest = p.rest();
    size_t best = 0;
    std::string with;
    auto try_name = [&](const std::string& name, bool host) {
      const bool here = host ? starts_with_any_case(rest, name) : starts_with(rest, name);
      if (!here || name.size() <= best) return;
      const char next = at(rest, name.size());
      const bool short_name = name.size() < 3;
      if (short_name ? is_word(next) || !p.word_start() : is_upper(next) || is_lower(next)) return;
      if (one_of(name, kCommonWords)) return;
      best = name.size();
      with = host ? hosts_.name(lower(name)) : users_.name(name);
    };
    for (const auto& host : own_.hosts) try_name(host, true);
    for (size_t i = 0; i < users_.values.size(); ++i)
      if (users_.values[i].size() >= 2) try_name(std::string(users_.values[i]), false);
    return best == 0 ? 0 : put(out, "", with, best);
  }

  // "node7.cluster.example.com"
  size_t full_name(const Place& p, std::string& out) {
    const std::string_view rest = p.rest();
    if (is_word(p.before()) || in(".-", p.before())) return 0;
    size_t length = run_of(rest, ".-");
    while (length > 0 && in(".-", rest[length - 1])) --length;
    const std::string_view name = rest.substr(0, length);
    const List<std::string> labels = split(name, ".");
    if (labels.size() < 2 || contains(name, "..") || is_word(at(rest, length)) || keeps(name))
      return 0;
    const bool known = one_of(labels.back(), kPrivateTopLevel) ||
                       (labels.size() > 2 && one_of(labels.back(), kTopLevel) &&
                        !is_digit(labels[labels.size() - 2][0]));  // 2.3.0.de
    return known ? put(out, "", hosts_.name(lower(name)), length) : 0;
  }

  size_t random(const Place& p, std::string& out) {
    const std::string_view rest = p.rest();
    if (is_alnum(p.before())) return 0;
    for (std::string_view joints : {"_+=-/", "_+=-"}) {
      const size_t length = run_of(rest, joints);
      if (length >= 32 && at(rest, 0) != '/' && p.before() != '/' &&
          !holds_uuid(rest.substr(0, length)) && looks_random(rest.substr(0, length), true))
        return secret(rest.substr(0, length), out);
    }
    size_t length = run_of(rest, "");
    const bool hash = length >= 32 && while_hex(rest) == length;
    if (length < 16 || !(hash || looks_random(rest.substr(0, length), false))) return 0;
    while (length < rest.size() && in("_+=-", rest[length])) {  // its other parts
      const size_t more = run_of(rest.substr(length + 1), "");
      if (more != 0 && !looks_random(rest.substr(length + 1, more), false)) break;
      length += 1 + more;
    }
    return secret(rest.substr(0, length), out);
  }

  size_t secret(std::string_view value, std::string& out) {
    return put(out, "", secrets_.name(value), value.size());
  }
  static size_t put(std::string& out, const std::string& before, const std::string& with,
                    size_t taken) {
    out += before;
    out += with;
    return taken;
  }

  const Identity& own_;
  bool learning_ = false, in_environment_ = false;
  Numbered users_{"user", {}}, homes_{"home", {}}, hosts_{"host", {}}, secrets_{"secret", {}},
      emails_{"email", {}}, ips_{"ip", {}}, uuids_{"uuid", {}};
};

}  // namespace

bool names_a_secret(const std::string& variable) {
  const std::string name = lower(variable);
  for (const char* word :
       {"token", "key", "secret", "pass", "credential", "auth", "session", "cookie", "webhook"})
    if (contains(name, word)) return true;
  return ends_with(name, "_pwd") || ends_with(name, "_pat");
}

Identity own_identity(const Host& host) {
  Identity own;
  std::string value;
  for (const char* name : {"USER", "LOGNAME", "USERNAME", "SUDO_USER"})
    if (host.env(name, value) && !value.empty()) add_once(own.users, value);
  List<std::string> homes;
  if (host.env("HOME", value)) homes.push_back(value);
  if (Result<std::string> text = host.read("/etc/passwd", 1 << 16))
    for (const auto& line : split(*text, "\n")) {
      const List<std::string> fields = split(line, ":");  // without the empty ones
      if (fields.size() > 4 && contains(own.users, fields[0]))
        homes.push_back(fields[fields.size() - 2]);
    }
  for (auto& home : homes) {
    while (home.size() > 1 && home.back() == '/') home.pop_back();
    const bool of_system = one_of(home, "/ /usr /opt /tmp /var /bin /lib /etc /srv /mnt /home");
    if (!starts_with(home, "/") || of_system) continue;
    add_once(own.homes, home);
    if (own.users.empty()) own.users.push_back(path_name(home));
  }
  List<std::string> names;
  for (const char* name : {"HOSTNAME", "HOST"})
    if (host.env(name, value)) names.push_back(value);
  for (const char* file : {"/proc/sys/kernel/hostname", "/etc/hostname"})
    if (Result<std::string> text = host.read(file, 4096)) names.push_back(*text);
  for (const auto& given : names) {
    std::string name(trim(given));  // box3.lab.example: itself, box3, lab.example
    if (run_of(name, "._-") != name.size()) continue;
    const List<std::string> labels = split(name, ".");
    for (size_t i = 0; i < labels.size(); ++i) {
      if (i == 0 || i + 1 < labels.size()) add_once(own.hosts, name);
      if (labels[i].size() >= (i == 0 ? 2U : 4U) && i + 1 < labels.size())
        add_once(own.hosts, labels[i]);
      name.erase(0, labels[i].size() + 1);
    }
  }
  return own;
}

Json redact(const Json& facts, const Identity& own) {
  return Redactor(own).whole(facts);
}

}  // namespace tcs
