// SPDX-License-Identifier: Apache-2.0
// One list of fields serves the reader and the writer: visit(archive, object) below. The schema is
// described for people in docs/facts.md and for programs in docs/facts.schema.json: a new member
// goes into all three (ctest -L schema).
#include "facts/facts_io.h"

#include "base/text.h"

namespace tcs {
namespace {

constexpr const char* kSchema = "torch-cuda-stack/facts/1";
// Longer lists are no machine's, and take time that grows with their square.
constexpr size_t kLongestList = 1024;

struct ReadState {
  Error error;
  bool failed = false;
  List<std::string>* unknown = nullptr;
};

// A value from the file in a message: not all of a long one.
std::string shown(const std::string& value) {
  return value.size() <= 60 ? value : cat(value.substr(0, 57), "...");
}

bool is_capability(const std::string& text) {
  Sm sm;
  return parse_sm_dotted(text, sm) && sm.plain();
}
bool is_image(const std::string& text) {
  Image image;
  return parse_image(text, image);
}

// What is in a value whose type the archive does not know: so its walk is compiled once, not once
// for each type.
template <class A, class T>
void visit_value(A& a, void* value) {
  visit(a, *static_cast<T*>(value));
}
template <class A, class T>
void visit_new(A& a, void* list) {
  visit(a, static_cast<List<T>*>(list)->add());
}
template <class A, class F>
void visit_group(A& a, void* body) {
  (*static_cast<F*>(body))(a);
}

class Reader {
 public:
  Reader(const Json& node, std::string path, ReadState& state)
      : node_(node), path_(std::move(path)), state_(state) {
    if (!node.is(Json::Kind::Object)) {
      fail(path_, node, "an object");
      return;
    }
    from_ = node.find("from");
    if (from_ && from_->is(Json::Kind::Null)) from_ = nullptr;
    if (from_ && !from_->is(Json::Kind::Object)) fail(member("from"), *from_, "an object");
    used_ = {"from", "reason"};
    if (const Json* reason = node.find("reason"))
      if (!reason->is(Json::Kind::String) && !reason->is(Json::Kind::Null))
        fail(member("reason"), *reason, "a string");
  }

  void field(const char* name, Text& out) {
    const Json* j = typed(name, Json::Kind::String, "a string");
    if (j && !trim(j->text).empty()) out = Text(j->text, from(name));  // a blank tells nothing
  }
  void field(const char* name, Flag& out) {
    if (const Json* j = typed(name, Json::Kind::Bool, "true or false"))
      out = Flag(j->boolean, from(name));
  }
  void field(const char* name, Fact<int>& out) {
    int value = 0;
    if (whole(name, value)) out = Fact<int>(value, from(name));
  }
  void field(const char* name, int& out) { whole(name, out); }
  void field(const char* name, std::string& out) {
    if (const Json* j = typed(name, Json::Kind::String, "a string")) out = j->text;
  }
  void field(const char* name, List<std::string>& out, bool* known = nullptr) {
    const Json* j = typed(name, Json::Kind::Array, "an array");
    if (j && strings(name, *j, out) && known) *known = true;
  }
  void field(const char* name, Names& out) {
    const Json* j = typed(name, Json::Kind::Array, "an array");
    List<std::string> value;
    if (j && strings(name, *j, value)) out = Names(std::move(value), from(name));
  }
  void field(const char* name, StringMap& out) {
    const Json* j = typed(name, Json::Kind::Object, "an object");
    for (size_t i = 0; j && i < j->members.size(); ++i) {
      const auto& [key, value] = j->members[i];
      if (!value.is(Json::Kind::String))
        return fail(cat(member(name), ".", key), value, "a string");
      out[key] = value.text;
    }
  }
  // `choices`: the words allowed, separated by '|'.
  void choice(const char* name, Text& out, const char* choices) {
    field(name, out);
    if (const Json* j = text_at(name)) allow(name, j->text, choices);
  }
  void choice(const char* name, std::string& out, const char* choices) {
    field(name, out);
    allow(name, out, choices);
  }
  void capability(const char* name, Text& out) {
    field(name, out);
    if (const Json* j = text_at(name); j && !is_capability(j->text))
      say(member(name), *j, cat("'", shown(j->text), "' is not a compute capability like 8.6"));
  }
  template <class List>  // Names or a vector of text
  void images(const char* name, List& out) {
    field(name, out);
    const Json* j = node_.find(name);
    for (size_t i = 0; j && !state_.failed && i < j->items.size(); ++i)
      if (!is_image(j->items[i].text))
        say(item(name, i), j->items[i],
            cat("'", shown(j->items[i].text), "' is not an image like sm_86 or compute_86"));
  }
  void reason(std::string& out) { field("reason", out); }

  template <class T>
  void object(const char* name, T& out) {
    if (const Json* j = any(name)) inside(*j, member(name), visit_value<Reader, T>, &out);
  }
  template <class F>
  void group(const char* name, F body) {
    if (const Json* j = any(name)) inside(*j, member(name), visit_group<Reader, F>, &body);
  }
  void unknown_unless_read(Flag& out) { out = Flag(); }
  template <class T>
  void list(const char* name, List<T>& out, bool* known = nullptr) {
    if (each(name, visit_new<Reader, T>, &out) && known) *known = true;
  }
  void say(const std::string& path, const Json& at, std::string text) {
    if (state_.failed) return;
    state_.failed = true;
    state_.error = Error{cat(path.empty() ? "the document" : path, ": ", text), at.place()};
  }
  // Collects the members that no field named.
  void finish() {
    if (state_.failed) return;
    for (const auto& [name, value] : node_.members)
      if (!contains(used_, name))
        state_.unknown->push_back(cat(member(name), " (", value.place(), ")"));
    for (size_t i = 0; from_ && i < from_->members.size(); ++i) {
      const auto& [name, value] = from_->members[i];
      if (!value.is(Json::Kind::String))
        return fail(cat(member("from"), ".", name), value, "a string");
      if (!contains(used_, name))
        state_.unknown->push_back(cat(member("from"), ".", name, " (", value.place(), ")"));
    }
  }

 private:
  using Visit = void (*)(Reader&, void*);
  void inside(const Json& j, const std::string& path, Visit visit, void* out) {
    Reader inner(j, path, state_);
    if (state_.failed) return;
    visit(inner, out);
    inner.finish();
  }
  bool each(const char* name, Visit visit, void* list) {
    const Json* j = typed(name, Json::Kind::Array, "an array");
    for (size_t i = 0; j && i < j->items.size() && !state_.failed; ++i)
      inside(j->items[i], item(name, i), visit, list);
    return j != nullptr;
  }
  std::string member(std::string_view name) const {
    return path_.empty() ? cat(name) : cat(path_, ".", name);
  }
  std::string item(std::string_view name, size_t i) const { return cat(member(name), "[", i, "]"); }
  void fail(const std::string& path, const Json& at, const char* wanted) {
    say(path, at, cat("found ", at.kind_name(), ", expected ", wanted));
  }
  std::string from(const char* name) const {
    const Json* j = from_ ? from_->find(name) : nullptr;
    return j ? j->text : std::string();
  }
  const Json* text_at(const char* name) const {
    const Json* j = state_.failed ? nullptr : node_.find(name);
    return j && j->is(Json::Kind::String) ? j : nullptr;
  }
  // The member, or null when it is absent or null: unknown.
  const Json* any(const char* name) {
    used_.push_back(name);
    const Json* j = state_.failed ? nullptr : node_.find(name);
    return j && !j->is(Json::Kind::Null) ? j : nullptr;
  }
  const Json* typed(const char* name, Json::Kind kind, const char* wanted) {
    const Json* j = any(name);
    if (j && !j->is(kind)) {
      fail(member(name), *j, wanted);
      return nullptr;
    }
    if (j && j->items.size() > kLongestList) {
      say(member(name), *j,
          cat("found ", j->items.size(), " entries, expected at most ", kLongestList));
      return nullptr;
    }
    return j;
  }
  bool whole(const char* name, int& out) {
    const Json* j = typed(name, Json::Kind::Number, "a whole number");
    uint64_t value = 0;
    if (!j) return false;
    if (!parse_number(j->text, 0x7fffffff, value)) {
      say(member(name), *j,
          cat("found ", shown(j->text), ", expected a whole number from 0 to 2147483647"));
      return false;
    }
    out = static_cast<int>(value);
    return true;
  }
  bool strings(const char* name, const Json& j, List<std::string>& out) {
    for (size_t i = 0; i < j.items.size(); ++i) {
      if (!j.items[i].is(Json::Kind::String)) {
        fail(item(name, i), j.items[i], "a string");
        return false;
      }
      out.push_back(j.items[i].text);
    }
    return true;
  }
  void allow(const char* name, const std::string& value, const char* choices) {
    List<std::string> words = split(choices, "|");
    const Json* at = node_.find(name);
    if (at && !state_.failed && !contains(words, value))
      say(member(name), *at,
          cat("found '", shown(value), "', expected one of ", join(words, ", ")));
  }

  const Json& node_;
  const Json* from_ = nullptr;
  std::string path_;
  ReadState& state_;
  List<std::string> used_;
};

Json strings_json(const List<std::string>& values) {
  Json out = Json::array();
  for (const auto& v : values) out.push(v);
  return out;
}

class Writer {
 public:
  Json out = Json::object();

  void field(const char* name, const Text& f) { fact(name, f, Json(f.value())); }
  void field(const char* name, const Flag& f) { fact(name, f, Json(f.value())); }
  void field(const char* name, const Fact<int>& f) { fact(name, f, Json(f.value())); }
  void field(const char* name, const Names& f) { fact(name, f, strings_json(f.value())); }
  void field(const char* name, int value) { out.add(name, value); }
  void field(const char* name, const std::string& value) {
    if (!value.empty()) out.add(name, value);
  }
  void field(const char* name, const List<std::string>& values, const bool* known = nullptr) {
    if (known ? *known : !values.empty()) out.add(name, strings_json(values));
  }
  void field(const char* name, const StringMap& values) {
    if (values.empty()) return;
    Json object = Json::object();
    for (const auto& [key, value] : values) object.add(key, value);
    out.add(name, std::move(object));
  }
  template <class T>
  void choice(const char* name, const T& value, const char*) {
    field(name, value);
  }
  void capability(const char* name, const Text& value) { field(name, value); }
  template <class List>
  void images(const char* name, const List& values) {
    field(name, values);
  }
  void reason(const std::string& text) { field("reason", text); }
  template <class T>
  void object(const char* name, T& value) {
    inside(name, visit_value<Writer, T>, &value);
  }
  template <class F>
  void group(const char* name, F body) {
    inside(name, visit_group<Writer, F>, &body);
  }
  void unknown_unless_read(const Flag&) {}
  template <class T>
  void list(const char* name, List<T>& values, const bool* known = nullptr) {
    if (known ? *known : !values.empty())
      each(name, visit_value<Writer, T>, values.begin(), values.size(), sizeof(T));
  }
  Json take() {
    if (!from_.members.empty()) out.add("from", std::move(from_));
    return std::move(out);
  }

 private:
  using Visit = void (*)(Writer&, void*);
  void inside(const char* name, Visit visit, void* value) {
    Writer inner;
    visit(inner, value);
    Json json = inner.take();
    if (!json.members.empty()) out.add(name, std::move(json));
  }
  void each(const char* name, Visit visit, void* first, size_t count, size_t size) {
    Json array = Json::array();
    for (size_t i = 0; i < count; ++i) {
      Writer inner;
      visit(inner, static_cast<char*>(first) + i * size);
      array.push(inner.take());
    }
    out.add(name, std::move(array));
  }
  template <class F>
  void fact(const char* name, const F& f, Json value) {
    if (!f.known()) return;
    out.add(name, std::move(value));
    if (!f.from.empty()) from_.add(name, f.from);
  }
  Json from_ = Json::object();
};

// clang-format off
template <class A> void visit(A& a, HostFacts& h) {
  a.field("os", h.os); a.field("arch", h.arch); a.field("distro", h.distro);
  a.field("kernel", h.kernel); a.field("glibc", h.glibc); a.field("wsl", h.wsl);
  a.group("jetson", [&](A& j) { j.field("l4t", h.jetson_l4t); j.field("jetpack", h.jetson_jetpack); });
  a.field("container", h.container); a.field("nvidia_pci", h.nvidia_pci); a.field("nouveau", h.nouveau);
  a.field("secure_boot", h.secure_boot); a.field("cores", h.cores); a.field("memory_mib", h.memory_mib);
}
template <class A> void visit(A& a, ImageProbe& p) {
  a.field("image", p.image); a.choice("result", p.result, "runs|refused|wrong|crash|hang");
  a.field("error", p.error); a.field("step", p.step);
}
template <class A> void visit(A& a, Device& d) {
  a.unknown_unless_read(d.visible);
  a.field("index", d.index); a.field("name", d.name); a.capability("cc", d.cc); a.field("uuid", d.uuid);
  a.field("visible", d.visible); a.field("integrated", d.integrated); a.field("mig", d.mig);
  a.field("state", d.state); a.field("compute_mode", d.compute_mode);
  a.list("image_probe", d.image_probe); a.reason(d.reason);
}
template <class A> void visit(A& a, DeviceFacts& d) {
  a.choice("state", d.state, "measured|declared|none"); a.list("list", d.list, &d.list_known);
  a.reason(d.reason);
}
template <class A> void visit(A& a, LibCuda& l) {
  a.field("path", l.path); a.field("version", l.version); a.field("role", l.role); a.field("kind", l.kind);
}
template <class A> void visit(A& a, DeviceNode& n) { a.field("path", n.path); a.field("state", n.state); }
template <class A> void visit(A& a, DriverFailure& f) { a.field("kind", f.kind); a.field("text", f.text); }
template <class A> void visit(A& a, Nvml& n) {
  a.field("state", n.state); a.field("path", n.path); a.field("version", n.version);
  a.field("error_code", n.error_code); a.reason(n.reason);
}
template <class A> void visit(A& a, DriverFacts& d) {
  a.choice("state", d.state, "ok|absent|no-kernel-module|stub|mismatch|error");
  a.field("version", d.version); a.field("kernel_module", d.kernel_module); a.field("cuda", d.cuda);
  a.group("error", [&](A& e) { e.field("code", d.error_code); e.field("call", d.error_call); });
  a.field("module_kind", d.module_kind); a.object("failure", d.failure); a.field("mps", d.mps);
  a.object("nvml", d.nvml); a.list("nodes", d.nodes, &d.nodes_known);
  a.list("libcuda", d.libcuda); a.reason(d.reason);
}
template <class A> void visit(A& a, ToolkitFailure& f) { a.field("kind", f.kind); a.field("text", f.text); }
template <class A> void visit(A& a, ImageBuild& b) {
  a.field("image", b.image); a.choice("result", b.result, "built|refused|wrong"); a.field("text", b.text);
}
template <class A> void visit(A& a, Toolkit& t) {
  a.field("root", t.root); a.field("nvcc", t.nvcc); a.field("version", t.version);
  a.field("origin", t.origin); a.field("layout", t.layout); a.field("headers", t.headers);
  a.field("ptxas", t.ptxas); a.field("cicc", t.cicc); a.field("cudart", t.cudart);
  a.images("archs", t.archs); a.field("missing", t.missing); a.field("works", t.works);
  a.object("failure", t.failure); a.list("builds", t.builds); a.field("driver_dir", t.driver_dir);
  a.field("include_dir", t.include_dir); a.field("library_dir", t.library_dir);
  a.field("gcc_max", t.gcc_max); a.field("clang_max", t.clang_max);
  a.field("fitting_host_compiler", t.fitting_host_compiler);
  a.field("spare_host_compiler", t.spare_host_compiler);
  a.field("tried_host_compilers", t.tried_host_compilers); a.reason(t.reason);
}
template <class A> void visit(A& a, ToolkitFacts& t) {
  a.field("selected", t.selected); a.field("on_path", t.on_path); a.list("list", t.list, &t.list_known);
  a.reason(t.reason);
}
template <class A> void visit(A& a, HostCompiler& h) {
  a.field("id", h.id); a.field("version", h.version); a.field("path", h.path); a.reason(h.reason);
}
template <class A> void visit(A& a, ImageSet& s) { a.images("images", s.images); a.field("count", s.count); }
template <class A> void visit(A& a, CoverageRow& c) {
  a.field("arch", c.arch); a.field("count", c.count); a.field("fat_binaries", c.fat_binaries);
}
template <class A> void visit(A& a, TorchLibrary& l) {
  a.field("name", l.name); a.images("images", l.images); a.field("fat_binaries", l.fat_binaries);
  a.list("coverage", l.coverage); a.list("sets", l.sets);
}
template <class A> void visit(A& a, TorchFacts& t) {
  a.choice("state", t.state, "found|absent|broken"); a.field("version", t.version);
  a.choice("flavour", t.flavour, "cuda|cpu|rocm|xpu"); a.field("cuda", t.cuda);
  a.field("cxx11_abi", t.cxx11_abi); a.field("cxx_standard", t.cxx_standard);
  a.images("images", t.images); a.list("libraries", t.libraries, &t.libraries_known); a.field("root", t.root);
  a.field("python_tag", t.python_tag); a.field("cmake_dir", t.cmake_dir); a.reason(t.reason);
}
template <class A> void visit(A& a, PythonFacts& p) {
  a.choice("state", p.state, "found|absent"); a.field("executable", p.executable);
  a.field("version", p.version); a.field("kind", p.kind); a.field("prefix", p.prefix);
  a.field("free_threaded", p.free_threaded); a.field("elsewhere", p.elsewhere, &p.elsewhere_known);
  a.reason(p.reason);
}
template <class A> void visit(A& a, Library& l) {
  a.field("soname", l.soname); a.field("needed_by", l.needed_by);
  a.choice("state", l.state, "found|missing|wrong"); a.field("path", l.path);
  a.field("version", l.version); a.field("built_against", l.built_against); a.field("via", l.via);
  a.field("shadows", l.shadows); a.images("archs", l.archs); a.images("images", l.images);
}
template <class A> void visit(A& a, Extension& e) {
  a.field("name", e.name); a.field("cuda", e.cuda); a.field("cxx11_abi", e.cxx11_abi);
  a.images("images", e.images); a.field("ptx_isa", e.ptx_isa);
  a.choice("role", e.role, "subject|neighbour"); a.reason(e.reason);
}
template <class A> void visit(A& a, TreeBuild& b) {
  a.field("path", b.path); a.field("list", b.list); a.field("compiler", b.compiler);
  a.field("gencodes", b.gencodes); a.reason(b.reason);
}
template <class A> void visit(A& a, TreeFacts& t) {
  a.choice("state", t.state, "found|absent"); a.field("root", t.root); a.field("version", t.version);
  a.choice("era", t.era, "setup.py|scikit-build-core"); a.field("fresh", t.fresh);
  a.field("cuda_min", t.cuda_min); a.field("gcc_min", t.gcc_min); a.object("build", t.build);
  a.reason(t.reason);
}
template <class A> void visit(A& a, Facts& f) {
  a.choice("origin", f.origin, "measured|declared|replayed");
  a.object("host", f.host); a.object("devices", f.devices); a.object("driver", f.driver);
  a.object("toolkits", f.toolkits); a.object("host_compiler", f.host_compiler);
  a.object("torch", f.torch); a.object("python", f.python);
  a.object("tree", f.tree);
  a.list("libraries", f.libraries, &f.libraries_known); a.list("extensions", f.extensions, &f.extensions_known);
  a.field("environment", f.environment);
}
template <class A> void visit(A& a, Request& r) {
  a.field("arch_list", r.arch_list); a.choice("arch_dialect", r.arch_dialect, "torch|cmake");
  a.field("other_list", r.other_list); a.choice("other_dialect", r.other_dialect, "torch|cmake");
  a.field("targets", r.targets); a.field("targets_from", r.targets_from);
  a.choice("purpose", r.purpose, "extension|pytorch-source|run");
}
// clang-format on

void check_selected(Reader& reader, const Json& document, const ToolkitFacts& t) {
  if (!t.selected.known() || !t.list_known) return;  // an index into an unknown list says nothing
  if (t.selected.value() < static_cast<int>(t.list.size())) return;
  const Json* toolkits = document.find("toolkits");
  reader.say(
      "toolkits.selected", *toolkits->find("selected"),
      cat("found ", t.selected.value(), ", but toolkits.list has ", t.list.size(), " entries"));
}

}  // namespace

Result<Facts> read_facts(std::string_view json, List<std::string>& unknown_members) {
  Result<Json> document = parse_json(json);
  if (!document) return document.error();
  ReadState state;
  state.unknown = &unknown_members;
  Facts facts;
  facts.origin = "replayed";
  Reader reader(*document, "", state);
  std::string schema;
  if (!state.failed) {
    reader.field("schema", schema);
    const Json* at = document->find("schema");
    if (schema != kSchema)
      reader.say(
          "schema", at ? *at : *document,
          cat(at ? cat("found '", shown(schema), "'") : "missing", ", expected '", kSchema, "'"));
  }
  if (!state.failed) {
    visit(reader, facts);
    check_selected(reader, *document, facts.toolkits);
    reader.finish();
  }
  if (state.failed) return state.error;
  forget_unreadable(facts);
  order_facts(facts);
  return facts;
}

Result<Request> read_request(std::string_view json, List<std::string>& unknown_members) {
  Result<Json> document = parse_json(json);
  if (!document) return document.error();
  ReadState state;
  state.unknown = &unknown_members;
  Request request;
  Reader reader(*document, "", state);
  if (!state.failed) {
    visit(reader, request);
    request.targets_known = !request.targets.empty();  // [] asks for the default ones
    reader.finish();
  }
  if (state.failed) return state.error;
  return request;
}

template <class T>
std::string text_of(T& element) {
  Writer writer;
  visit(writer, element);
  return write_json(writer.take());
}
template std::string text_of(Device&);
template std::string text_of(LibCuda&);
template std::string text_of(DeviceNode&);
template std::string text_of(Toolkit&);
template std::string text_of(TorchLibrary&);
template std::string text_of(Library&);
template std::string text_of(Extension&);

Json facts_to_json(const Facts& facts) {
  Facts copy = facts;  // the one visit() serves both ways and so takes a changeable object
  Writer writer;
  writer.out.add("schema", kSchema);
  visit(writer, copy);
  return writer.take();
}

}  // namespace tcs
