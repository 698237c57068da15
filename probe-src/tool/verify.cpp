// SPDX-License-Identifier: Apache-2.0
#include "tool/verify.h"

#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"
#include "plan/grammar.h"
#include "readers/elf.h"
#include "readers/images.h"
#include "tool/settings.h"
#include "tool/verbs.h"

namespace tcs {

namespace {

struct Verifier {
  const Host& host;
  List<Image> wanted;
  bool by_objects =
      false;  // objects of the target hold device code; else (an OBJECT library) the file is judged
  std::string error;     // bad input: exit 2
  std::string failures;  // what does not hold: exit 1

  bool bad(const Error& e) {
    error = e.str();
    return false;
  }
  void fail(const std::string& text) { failures += cat("  ", ascii(text), "\n"); }
};

bool take_images(Verifier& v, const List<std::string>& names, const std::string& place) {
  for (const std::string& name : names) {
    Image image;
    if (!parse_image(name, image)) {
      return v.bad(
          Error{cat("'", tail(name, 40), "' is no image name such as sm_90 or compute_90"), place});
    }
    v.wanted.push_back(image);
  }
  if (v.wanted.empty()) return v.bad(Error{"names no image to look for", place});
  return true;
}

// Capabilities, as an arch list has them: "8.6;9.0+PTX".
bool take_targets(Verifier& v, const std::string& list) {
  const char* place = "--targets";
  const ArchTokens parsed = parse_arch_list(list, "torch");
  List<std::string> names;
  if (!parsed.issues.empty()) {
    const PlanIssue& issue = parsed.issues[0];
    return v.bad(Error{cat("'", quotable(issue.token), "' is no capability such as 9.0 or 9.0+PTX",
                           issue.corrected.empty() ? "" : "; did you mean ", issue.corrected),
                       place});
  }
  for (const ArchToken& token : parsed.tokens) {
    if (token.kind != ArchToken::Kind::Arch) {
      return v.bad(Error{cat("'", quotable(token.text),
                             "' depends on the machine; name capabilities such as 9.0+PTX"),
                         place});
    }
    if (token.cubin) names.push_back(token.real.real());
    if (token.ptx) names.push_back(token.virt.virt());
  }
  return take_images(v, names, place);
}

bool read_wanted(Verifier& v, const VerifyRequest& request) {
  if (!request.images.empty()) return take_images(v, split(request.images, "; ,"), "--images");
  if (!request.targets.empty()) return take_targets(v, request.targets);
  const std::string& path = request.plan;
  Result<Json> plan = read_json_file(v.host, path);
  if (!plan) return v.bad(plan.error());
  const Json* images = plan->find("images");
  if (images == nullptr || !images->is(Json::Kind::Array)) {
    return v.bad(Error{"has no array \"images\"; expected a plan.json", path});
  }
  List<std::string> names;
  for (const Json& item : images->items) {
    const Json* image = item.find("image");
    names.push_back(image != nullptr ? image->text : std::string());
  }
  return take_images(v, names, path);
}

// The wanted images that `set` lacks: "sm_90 compute_90".
std::string missing_from(const Verifier& v, const List<Image>& set) {
  List<std::string> names;
  for (const Image& image : v.wanted) {
    if (!contains(set, image)) names.push_back(image.str());
  }
  return join(names, " ");
}

void judge_sets(Verifier& v, const ImageList& list) {
  for (const FatBinarySet& set : list.sets) {
    // Code for the device link (LTO) is in no image yet: what was linked from it is judged.
    if (set.images.empty() && !list.others.empty()) continue;
    std::string missing = missing_from(v, set.images);
    if (missing.empty()) continue;
    List<std::string> has;
    for (const Image& image : set.images) has.push_back(image.str());
    v.fail(cat(list.path, ": ", set.count, " of ", list.fat_binaries,
               list.fat_binaries == 1 ? " fat binary lacks " : " fat binaries lack ", missing,
               " (there: ", has.empty() ? "nothing" : join(has, " "), ")"));
  }
}

// Objects without device code (plain C++) are no fat binaries of the target.
bool judge_objects(Verifier& v, const std::string& list_file) {
  Result<std::string> names = v.host.read(list_file);
  if (!names) return v.bad(names.error());
  for (const std::string& name : lines_of(*names)) {
    if (trim(name).empty()) continue;
    Result<ImageList> list = read_images(v.host, name);
    if (!list) return v.bad(list.error());
    judge_sets(v, *list);
    if (list->fat_binaries > 0) v.by_objects = true;
  }
  return true;
}

// "libcudart.so.13" -> stem "libcudart.so", major 13.
bool split_soname(const std::string& soname, std::string& stem, int& major) {
  size_t at = soname.find(".so.");
  if (at == std::string::npos) return false;
  Version version = Version::parse(std::string_view(soname).substr(at + 4));
  stem = soname.substr(0, at + 3);
  major = version.major();
  return version.known();
}

bool judge_libraries(Verifier& v, const std::string& path, const Facts& facts) {
  Result<ElfDynamic> dynamic = read_dynamic(v.host, path);
  if (!dynamic) return v.bad(dynamic.error());
  for (const std::string& needed : dynamic->needed) {
    std::string stem, other_stem;
    int major = 0, other_major = 0;
    if (!split_soname(needed, stem, major)) continue;
    for (const Library& library : facts.libraries) {
      if (!split_soname(library.soname.value(), other_stem, other_major) || stem != other_stem)
        continue;
      if (major != other_major) {
        v.fail(cat(path, ": needs ", needed, ", PyTorch ", facts.torch.version.value(), " loads ",
                   library.soname.value()));
      }
    }
  }
  return true;
}

bool judge_file(Verifier& v, const std::string& path, std::string& said) {
  Result<ImageList> list = read_images(v.host, path);
  if (!list) return v.bad(list.error());
  if (v.by_objects) {
    // The linked file may hold fat binaries of archives too: the objects were judged, the file must
    // hold at least what was wanted.
    List<Image> all;
    for (const ImageCount& row : list->images) all.push_back(row.image);
    std::string missing = missing_from(v, all);
    if (!missing.empty()) v.fail(cat(path, ": no fat binary holds ", missing));
  } else {
    judge_sets(v, *list);
    if (list->fat_binaries == 0) v.fail(cat(path, ": holds no device code"));
  }
  List<std::string> extra;
  for (const ImageCount& row : list->images) {
    bool wanted = contains(v.wanted, row.image);
    if (!wanted) extra.push_back(row.image.str());
  }
  said += cat("  ", ascii(path), ": ", list->fat_binaries,
              list->fat_binaries == 1 ? " fat binary" : " fat binaries",
              extra.empty() ? "" : cat(", also holds ", join(extra, " ")), "\n");
  return true;
}

bool judge_all(Verifier& v, const VerifyRequest& request, std::string& said) {
  if (!read_wanted(v, request)) return false;
  if (!request.objects.empty() && !judge_objects(v, request.objects)) return false;
  if (request.rest && !v.by_objects) return true;
  List<std::string> unknown;
  Result<Facts> facts = Facts();
  if (!request.facts.empty()) facts = read_facts_file(v.host, request.facts, unknown);
  if (!facts) return v.bad(facts.error());
  for (const std::string& path : request.files) {
    if (!judge_file(v, path, said)) return false;
    if (!request.facts.empty() && !ends_with(path, ".a") && !judge_libraries(v, path, *facts))
      return false;
  }
  return true;
}

const List<OptionSpec> verify_options = {
    {"--plan", "FILE", "plan.json of a configure", false},
    {"--images", "LIST", "the images wanted, before those of the plan: \"sm_80;compute_90\"",
     false},
    {"--targets", "LIST", "the capabilities wanted, before those of the plan: \"8.6;9.0+PTX\"",
     false},
    {"--objects", "FILE", "a file that names, one a line, the objects the target compiled", false},
    {"--rest", nullptr, "none of the objects need hold device code", false},
    {"--facts", "FILE", "facts.json: needed CUDA libraries must be those its torch loads", false},
    {"--quiet", nullptr, "say nothing when all is well", false},
};

}  // namespace

Verdict verify(const Host& host, const VerifyRequest& request) {
  Verifier v{host, {}, false, {}, {}};
  std::string said;
  if (!judge_all(v, request, said)) return {2, cat("tcstack verify: ", v.error, "\n")};
  if (!v.failures.empty()) {
    return {
        1,
        cat("tcstack verify: what was built is not what was planned\n", v.failures,
            "  help: look for a flag that replaces the architectures: CMAKE_CUDA_FLAGS, "
            "NVCC_APPEND_FLAGS,\n        CUDA_ARCHITECTURES or COMPILE_OPTIONS of the target\n")};
  }
  if (request.rest && !v.by_objects) return {0, {}};
  List<std::string> names;
  for (const Image& image : v.wanted) names.push_back(image.str());
  return {0, cat("verified: every fat binary holds ", join(names, " "), "\n", said)};
}

int verb_verify(Host& host, const List<std::string>& args) {
  Options options;
  int status = 0;
  if (!parse_options(args, verify_options,
                     "tcstack verify FILE... (--plan FILE | --targets LIST | --images LIST) "
                     "[--objects FILE]",
                     options, status)) {
    return status;
  }
  if (options.words.empty() ||
      (!options.has("--plan") && !options.has("--targets") && !options.has("--images"))) {
    print_err("tcstack verify: name a built file, and --plan, --targets or --images\n");
    return 2;
  }
  for (const char* wanted : {"--images", "--targets"}) {
    if (!options.has(wanted) || !trim(options.get(wanted)).empty()) continue;
    print_err(cat("tcstack verify: ", wanted, ": names no image to look for\n"));
    return 2;
  }
  Verdict verdict =
      verify(host, VerifyRequest{options.words, options.get("--plan"), options.get("--images"),
                                 options.get("--objects"), options.get("--facts"),
                                 options.get("--targets"), options.has("--rest")});
  if (verdict.status != 0) {
    print_err(verdict.text);
    return verdict.status;
  }
  return options.has("--quiet") || print_out(verdict.text) ? 0 : 3;
}

}  // namespace tcs
