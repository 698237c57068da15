// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "facts/answer_cache.h"
#include "facts/image_probe.h"
#include "facts/toolkit_parts.h"
#include "facts/toolkit_questions.h"
#include "readers/images.h"

namespace tcs {
namespace {

constexpr const char* kSource =
#include "kernels/image_probe.cu"
    ;

// Flags of the user's that change which images come out, or in what form.
bool disturb_images(const std::string& flags) {
  for (const char* word : {"arch", "gencode", "code", "rdc", "-dc", "lto", "compress", "threads"})
    if (contains(flags, word)) return true;
  return false;
}

class ImageBuilder {
 public:
  ImageBuilder(Host& host, const Inputs& in, const TryFolder& folder, Toolkit& toolkit,
               HostCompiler& compiler)
      : host_(host), in_(in), folder_(folder), t_(toolkit), compiler_(compiler) {
    for (const char* name : kFlagVariables) flags_ += host.env_or(name, "") + " ";
  }

  void ask(const List<WantedImage>& wanted) {
    List<WantedImage> missing = from_cache(wanted);
    // With flags that would spoil the answer, whether nvcc works is asked with them, by itself.
    if (!t_.works.known() && (missing.empty() || disturb_images(flags_))) test();
    // nvcc refuses an f image beside another of the same architecture.
    List<WantedImage> family;
    for (size_t i = missing.size(); i-- > 0;) {
      bool twice = false;
      for (const WantedImage& other : missing)
        twice = twice || (other.real.base() == missing[i].real.base() && other.real.suffix != 'f');
      if (missing[i].real.suffix != 'f' || !twice) continue;
      family.push_back(missing[i]);
      missing.erase(missing.begin() + i);
    }
    build(missing);
    build(family);
    // Whatever was wanted, the chosen toolkit is tried.
    if (!t_.works.known() && !tested_) test();
  }

  List<BuiltImage> built;

 private:
  List<WantedImage> from_cache(const List<WantedImage>& wanted) {
    List<WantedImage> missing;
    List<Image> seen;
    for (const WantedImage& w : wanted) {
      if (contains(seen, w.image())) continue;  // the first way to it
      seen.push_back(w.image());
      std::string bytes;
      if (recall_image(host_, in_, image_key(t_, w, kSource), bytes))
        keep(w, bytes);
      else
        missing.push_back(w);
    }
    return missing;
  }

  void test(const Compiled* said = nullptr) {
    tested_ = true;
    test_compile(host_, in_, folder_, t_, compiler_, said);
    given_up_ = given_up_ || !t_.works.known();
  }

  // One call for all; where it fails, for those that are left, and at last for each half.
  void build(List<WantedImage> wanted) {
    while (!wanted.empty() && !stopped()) {
      const Compiled tried = compile(wanted);
      if (tried.said.ok() && !tried.object.empty()) return take(wanted, tried);
      const bool silent = tried.said.state == Outcome::State::TimedOut ||
                          tried.said.state == Outcome::State::NotStarted;
      if (silent && t_.works.known()) return give_up(tried.said.describe());
      if (silent) return test(&tried);
      if (drop_refused(tried, wanted)) continue;
      if (!plain_ && contains(tried.said.err, "nknown option")) {
        plain_ = true;  // a wrapper that does not know what only saves time
        continue;
      }
      if (!t_.works.known()) test();
      if (stopped()) return;
      if (wanted.size() == 1)
        return add_row(wanted[0].image(), "refused", telling_lines(tried.said));
      List<WantedImage> half;
      while (half.size() < wanted.size()) {
        half.push_back(wanted.back());
        wanted.pop_back();
      }
      build(half);
    }
  }

  // Bisecting takes a compile each: no longer than one that hangs may take.
  bool stopped() {
    if (!given_up_ && spent_ms_ > in_.timeout_ms) give_up("that took too long");
    return given_up_ || t_.works.is(false);
  }
  void give_up(const std::string& why) {
    given_up_ = true;
    if (t_.reason.empty()) t_.reason = cat("images were not built: ", why);
  }

  Compiled compile(const List<WantedImage>& wanted) {
    const HostCompilerChoice choice = host_compiler_choice(host_, in_);
    const bool alone = disturb_images(flags_);
    Command command =
        nvcc_command(t_.nvcc.value(), choice.ccbin.empty() && alone ? choice.named : choice.ccbin,
                     in_.timeout_ms);
    List<std::string> words = {"-D__CUDA_RUNTIME_H__"};
    if (!plain_) words.push_back("-Wno-deprecated-gpu-targets");
    // Whether nvcc works is a question with CUDA's headers in a device pass too.
    words.push_back(cat("-DTCS_WHOLE=", t_.works.known() ? 0u : wanted[0].code() / 16));
    for (const char* name : kFlagVariables)
      if (alone) command.unset_env.push_back(name);
    if (alone && contains(flags_, "allow-unsupported-compiler"))
      words.push_back("-allow-unsupported-compiler");
    const Version version = Version::parse(t_.version.value());
    if (!plain_ && (version.major() > 11 || (version.major() == 11 && version.minor() >= 2)))
      words.append({"-no-compress", "-t", cat(host_.cores() < 2 ? 2 : host_.cores())});
    for (const WantedImage& w : wanted) words.push_back(w.flag());
    const Compiled tried = compile_alone(host_, folder_, command, kSource, words);
    spent_ms_ += tried.said.ms;
    return tried;
  }

  // "Unsupported gpu architecture 'compute_90f'": nvcc says it before it compiles anything.
  bool drop_refused(const Compiled& tried, List<WantedImage>& wanted) {
    Sm refused;
    if (!parse_refused_arch(tried.said.err, refused)) return false;
    List<WantedImage> left;
    for (const WantedImage& w : wanted) {
      if (w.virt == refused || (!w.ptx && w.real == refused))
        add_row(w.image(), "refused", telling_lines(tried.said));
      else
        left.push_back(w);
    }
    const bool dropped = left.size() < wanted.size();
    wanted = left;
    return dropped;
  }

  void take(const List<WantedImage>& wanted, const Compiled& tried) {
    if (!t_.works.known()) t_.works = Flag(true, "test compile");
    if (!t_.cicc.known() && !tried.release.empty())
      t_.cicc = Text(tried.release, "PTX of a test compile");
    Result<List<ImagePlace>> places = locate_images(host_, tried.object);
    Result<std::unique_ptr<File>> file = host_.open(tried.object);
    for (const WantedImage& w : wanted) {
      std::string bytes, there = places ? "" : "the object cannot be read: " + places.error().text;
      for (size_t i = 0; places && file && i < places->size(); ++i) {
        const ImagePlace& place = (*places)[i];
        there += cat(there.empty() ? "the object holds " : ", ", place.image.str());
        if (bytes.empty() && place.image == w.image()) bytes = slice(**file, place, w);
      }
      if (bytes.empty()) {
        add_row(w.image(), "wrong", there.empty() ? "the object holds no image" : there);
        continue;
      }
      keep(w, bytes);
      keep_image(host_, in_, image_key(t_, w, kSource), bytes);
    }
  }

  // What the driver takes of it; "" where it is not what the fat binary says.
  static std::string slice(File& file, const ImagePlace& place, const WantedImage& w) {
    std::string entry;
    if (place.header_size > place.entry_size ||
        !file.read(place.entry, static_cast<size_t>(place.entry_size), entry))
      return {};
    if (place.compressed) {  // as a fat binary of its own
      const uint64_t size = entry.size();
      std::string fat("\x50\xed\x55\xba\x01\x00\x10\x00", 8);
      for (int shift = 0; shift < 64; shift += 8) fat += static_cast<char>(size >> shift & 0xff);
      return fat + entry;
    }
    std::string bytes = entry.substr(static_cast<size_t>(place.header_size));
    if (!w.ptx) return bytes;
    bytes.resize(bytes.find('\0') == std::string::npos ? bytes.size() : bytes.find('\0'));
    const std::string target = cat(".target ", w.virt.real());
    const size_t at = bytes.find(target);
    const bool ours = at != std::string::npos &&
                      bytes.find_first_of(",\n\r ", at + target.size()) == at + target.size();
    return ours ? bytes : std::string();
  }

  void keep(const WantedImage& w, const std::string& bytes) {
    built.push_back({w, bytes});
    add_row(w.image(), "built", "");
  }
  void add_row(const Image& image, const char* result, const std::string& text) {
    ImageBuild row;
    row.image = Text(image.str());
    row.result = Text(result, "nvcc");
    if (!text.empty()) row.text = Text(text);
    t_.builds.push_back(row);
  }

  Host& host_;
  const Inputs& in_;
  const TryFolder& folder_;
  Toolkit& t_;
  HostCompiler& compiler_;
  std::string flags_;
  bool given_up_ = false, tested_ = false, plain_ = false;
  int64_t spent_ms_ = 0;
};

// Wanted, and neither built nor refused: a row without a result.
void add_unknown(const List<WantedImage>& wanted, Toolkit& toolkit) {
  for (const WantedImage& w : wanted) {
    bool there = toolkit.works.is(false);  // that is what is known
    for (const ImageBuild& row : toolkit.builds) there = there || row.image.is(w.image().str());
    if (!there) toolkit.builds.add().image = Text(w.image().str());
  }
}

DryRun dry_run_of(Host& host, const Inputs& in, const Toolkit& toolkit) {
  const std::string ccbin = host_compiler_choice(host, in).ccbin;
  const Outcome said = host.run(ask_dry_run(toolkit.nvcc.value(), ccbin, in.timeout_ms));
  return parse_dry_run(cat(said.out, said.err));
}

}  // namespace

List<BuiltImage> build_images(Host& host, const Inputs& in, const TryFolder& folder,
                              const List<WantedImage>& wanted, Facts& facts) {
  const int selected = facts.toolkits.selected.or_else(-1);
  if (facts.toolkit() == nullptr || in.work_dir.empty()) return {};
  Toolkit& toolkit = facts.toolkits.list[static_cast<size_t>(selected)];
  // Without a key it was asked nothing: clang, or one that does not tell its release.
  if (toolkit.key.empty() || toolkit.works.is(false)) return {};
  if (folder.path.empty()) {
    toolkit.reason = folder.why;
    add_unknown(wanted, toolkit);
    return {};
  }
  const bool recalled = toolkit.works.known();
  ImageBuilder builder(host, in, folder, toolkit, facts.host_compiler);
  builder.ask(wanted);
  add_unknown(wanted, toolkit);
  if (!toolkit.cicc.known()) read_cicc_release(host, dry_run_of(host, in, toolkit), toolkit);
  // However they were come by.
  sort_few(toolkit.builds, [](const ImageBuild& a, const ImageBuild& b) {
    Image x, y;
    return parse_image(a.image.value(), x) && parse_image(b.image.value(), y) && x < y;
  });
  sort_few(builder.built, [](const BuiltImage& a, const BuiltImage& b) {
    return a.wanted.image() < b.wanted.image();
  });
  if (!recalled) keep_answers(host, in, toolkit.key, toolkit, facts.host_compiler);
  return builder.built;
}

}  // namespace tcs
