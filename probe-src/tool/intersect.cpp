// SPDX-License-Identifier: Apache-2.0
// `tcstack intersect`: plan.json and the architectures of a source file -> what to compile it for.
#include "plan/intersect.h"

#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"
#include "emit/emit.h"
#include "tool/settings.h"
#include "tool/verbs.h"

namespace tcs {

namespace {

std::string member(const Json& object, const char* name) {
  const Json* found = object.find(name);
  return found != nullptr ? found->text : std::string();
}

// The plan's needs, and its nvcc as facts. "" or what is wrong with the document.
std::string read_needs(const Json& plan, PlanNeeds& needs, Facts& facts) {
  for (const char* name : {"images", "targets"}) {
    const Json* array = plan.find(name);
    if (array == nullptr || !array->is(Json::Kind::Array))
      return cat("has no array \"", name, "\"; expected a plan.json");
    for (const Json& item : array->items) {
      Image image;
      Sm sm;
      const std::string target = member(item, "target");
      if (parse_image(member(item, "image"), image))
        needs.images.push_back(image);
      else if (parse_sm_dotted(target, sm))
        needs.targets.push_back(sm.base());
      else
        return cat("has an entry of \"", name, "\" that is none");
    }
  }
  const Json* by_user = plan.find("by_user");
  needs.by_user = by_user == nullptr || by_user->boolean;
  List<std::string> archs;
  if (const Json* names = plan.find("nvcc_archs"))
    for (const Json& name : names->items) archs.push_back(name.text);
  const std::string version = member(plan, "nvcc");
  if (version.empty() && archs.empty()) return {};
  Toolkit& toolkit = facts.toolkits.list.add();
  if (!archs.empty()) toolkit.archs = Names(archs, "plan.json");
  if (!version.empty()) toolkit.version = Text(version, "plan.json");
  facts.toolkits.selected = 0;
  return {};
}

List<std::string> unserved_names(const Intersection& found) {
  List<std::string> out;
  for (const auto& row : found.unserved) out.push_back(row.first);
  return out;
}

// "8.6 8.9: sm_80 does not run there", a line for each reason.
List<std::string> reasons(const Intersection& found) {
  List<std::string> out, seen;
  for (const auto& row : found.unserved) {
    if (contains(seen, row.second)) continue;
    seen.push_back(row.second);
    std::string names;
    for (const auto& other : found.unserved)
      if (other.second == row.second) names += cat(names.empty() ? "" : " ", other.first);
    out.push_back(cat(names, ": ", row.second));
  }
  return out;
}

// One line on what is not as it was asked; "" when all is served.
std::string remark(const Intersection& found, const std::string& name) {
  std::string out = join(found.notes, ", ");
  if (!found.unserved.empty() && !found.plan.gencodes.empty())
    out += cat(out.empty() ? "" : "; ", "serves not all of the plan: ", join(reasons(found), ", "));
  return out.empty() ? out : cat(name, ": ", out);
}

std::string refusal(const Intersection& found, const PlanNeeds& needs, const std::string& name,
                    const std::string& archs) {
  List<std::string> images;
  for (const Image& image : needs.images) images.push_back(image.str());
  const std::string own = cat(name, ": none of its architectures (", replace_all(archs, ";", " "));
  return cat(cat(own, ") serves the plan (", join(images, " "), ")\n  "),
             join(reasons(found), "\n  "), "\n");
}

std::string as_cmake(const Intersection& found, const std::string& said) {
  auto set = [](const char* name, const std::string& value) {
    return cat("set(_tcs_", name, " ", cmake_quote(value), ")\n");
  };
  return cat(set("list", found.list()), set("gencode", join(gencode_flags(found.plan), ";")),
             set("images", join(found.images(), ";")),
             set("unserved", join(unserved_names(found), ";")), set("said", said));
}

std::string as_json(const Intersection& found) {
  Json images = Json::array(), unserved = Json::array(), notes = Json::array();
  for (const Gencode& g : found.plan.gencodes) {
    Json row = Json::object();
    row.add("image", g.image().str()).add("flag", g.flag()).add("serves", g.reason);
    images.push(std::move(row));
  }
  for (const auto& item : found.unserved) {
    Json row = Json::object();
    row.add("target", item.first).add("reason", item.second);
    unserved.push(std::move(row));
  }
  for (const std::string& note : found.notes) notes.push(note);
  Json out = Json::object();
  out.add("archs", found.list()).add("images", std::move(images));
  out.add("unserved", std::move(unserved)).add("notes", std::move(notes));
  return write_json(out) + "\n";
}

const List<OptionSpec> intersect_options = {
    {"--plan", "FILE", "plan.json of a configure", false},
    {"--archs", "LIST", "what the file is written for: \"9.0a;10.0f;8.0+PTX\"", false},
    {"--name", "TEXT", "what messages call the file", false},
    {"--format", "FORM", "json (default) or cmake", false},
};

}  // namespace

int verb_intersect(Host& host, const List<std::string>& args) {
  Options options;
  int status = 0;
  if (!parse_options(args, intersect_options,
                     "tcstack intersect --plan FILE --archs LIST [--name TEXT] [--format FORM]",
                     options, status))
    return status;
  const std::string form = options.get("--format", "json"), path = options.get("--plan");
  const std::string archs = options.get("--archs"), name = ascii(options.get("--name", "the file"));
  auto refuse = [](const std::string& text) {
    print_err(cat("tcstack intersect: ", text, "\n"));
    return 2;
  };
  if (!options.has("--plan") || !options.has("--archs")) return refuse("name --plan and --archs");
  if (!options.words.empty()) return refuse(cat("takes no word: ", tail(options.words[0], 60)));
  if (form != "cmake" && form != "json") return refuse("--format is cmake or json");
  const Result<Json> plan = read_json_file(host, path);
  if (!plan) return refuse(plan.error().str());
  PlanNeeds needs;
  Facts facts;
  const std::string wrong = read_needs(*plan, needs, facts);
  if (!wrong.empty()) return refuse(Error{wrong, path}.str());
  const Intersection found = intersect(needs, Buildable(facts), archs);
  if (!found.error.empty()) return refuse(cat(name, ": ", found.error));
  const bool written =
      print_out(form == "json" ? as_json(found) : as_cmake(found, remark(found, name)));
  if (!written) return 3;
  if (!found.plan.gencodes.empty()) return 0;
  print_err(refusal(found, needs, name, archs));
  return 1;
}

}  // namespace tcs
