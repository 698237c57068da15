// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "facts/image_probe.h"
#include "facts/probe_answer.h"

namespace tcs {
namespace {

class ImageLoad {
 public:
  ImageLoad(Host& host, const Inputs& in, DriverChild& child, Facts& facts)
      : host_(host), in_(in), child_(child), devices_(facts.devices), driver_(facts.driver) {}

  // Machine code first: should the driver's compiler hang, the rest is known.
  void ask(const List<BuiltImage>& images, const TryFolder& folder) {
    for (bool ptx : {false, true})
      for (Device& device : devices_.list)
        for (const BuiltImage& image : images)
          if (image.wanted.ptx == ptx) try_one(device, image, folder);
    judge_unreached();
  }

 private:
  void try_one(Device& device, const BuiltImage& image, const TryFolder& folder) {
    if (!device.index.known() || !device.cc.known()) return;
    const std::string name = image.wanted.image().str();
    if (const Unreached* why = unreached(device)) return add_unknown(device, name, why);
    const std::string path = path_join(folder.path, name + ".image");
    if (over_.empty() && child_.left_ms <= 0) over_ = "the time that the driver may take is up";
    if (over_.empty() && !is_there(folder.path, path, image.bytes))
      over_ = cat("cannot write ", path);
    if (!over_.empty() && !contains(device.reason, over_))
      add_reason(device, cat("not every image was tried: ", over_));
    if (!over_.empty()) return add_unknown(device, name);
    const int left_ms = child_.left_ms;
    std::string answer;
    const std::string line = cat(device.index.value(), " ", image.wanted.code(), " ", path);
    ++asked_;
    // What a driver printed there is passed over.
    for (std::string say = line; child_.talk->ask(say, child_.left_ms, answer); say.clear())
      if (learn(device, name, answer)) return;
    const Outcome outcome = child_.talk->end();
    if (outcome.state == Outcome::State::TimedOut) {
      over_ = cat("the driver gave no answer to ", name, " on device ", device.index.value());
      // With little time left at the start this is no hang.
      if (left_ms * 4 >= in_.timeout_ms)
        add_row(device, name, "hang");
      else
        add_unknown(device, name);
      return add_reason(device, over_);
    }
    add_row(device, name, "crash");
    std::string said(trim(outcome.err));
    std::string why =
        cat("the driver ended the process that tried ", name, " (", outcome.describe(), ")");
    add_reason(device, said.empty() ? why : cat(why, "; it printed \"", tail(said, 200), '"'));
    start_again();
  }

  // The folder is made by who compiles, and images of the cache are not compiled.
  bool is_there(const std::string& folder, const std::string& path, const std::string& bytes) {
    if (host_.stat(path).is_file()) return true;
    return host_.make_directories(folder) && host_.write_atomic(path, bytes);
  }

  // The rest is tried by another child: the only case of a second cuInit.
  void start_again() {
    child_.talk = host_.talk(driver_command(host_, in_));
    asked_ = 0;
    std::string line;
    int init = -1;
    if (!child_.talk->ask("", child_.left_ms, line)) {
      over_ = cat("the driver did not start again: ", child_.talk->end().describe());
      return;
    }
    Result<Json> answer = parse_json(line);
    if (!answer || !int_of(*answer, "init", init) || init != 0)
      over_ = "the driver did not start again";
  }

  // False: that was no answer to the last question.
  bool learn(Device& device, const std::string& name, const std::string& line) {
    Result<Json> answer = parse_json(line);
    int number = 0, error = 0;
    if (!answer || !int_of(*answer, "n", number) || number != asked_) return false;
    const Text result = text_of(*answer, "result", ""), step = text_of(*answer, "step", "");
    const bool failed = int_of(*answer, "error", error);
    for (const char* known : {"runs", "refused", "wrong"}) {
      if (!result.is(known)) continue;
      ImageProbe& row = add_row(device, name, known);
      if (failed) row.error = Fact<int>(error, step.value());
      row.step = step;
      return true;
    }
    // The device itself could not be reached, which says nothing of the image.
    if (result.is("unreached") && !failed) {
      add_reason(device, "this driver has not all calls that loading an image takes");
      add_unknown(device, name);
    } else if (result.is("unreached") && step.known()) {
      add_reason(device, cat(step.value(), " answered ", error, ": no image could be tried"));
      add_unknown(device, name, &unreached_.push_back({&device, error, step.value()}));
    } else {
      add_reason(device, cat("what was answered to ", name, " cannot be read"));
      add_unknown(device, name);
    }
    return true;
  }

  struct Unreached {
    const Device* device = nullptr;
    int error = 0;
    std::string step;
  };
  const Unreached* unreached(const Device& device) const {
    for (const Unreached& one : unreached_)
      if (one.device == &device) return &one;
    return nullptr;
  }

  // No device gives a context: a first call after cuInit fails. Memory that others have taken is of
  // this moment, and one device of several is no failure of the driver.
  void judge_unreached() {
    constexpr int kOutOfMemory = 2, kUnavailable = 46;
    bool reached = false;
    for (const Device& device : devices_.list)
      for (const ImageProbe& row : device.image_probe) reached = reached || row.result.known();
    for (Device& device : devices_.list)
      for (const Unreached& one : unreached_)
        if (reached && one.device == &device && one.error != kOutOfMemory &&
            one.error != kUnavailable && (!device.state.known() || device.state.is("ok")))
          device.state = Text("error", one.step);
    if (reached || unreached_.empty() || unreached_[0].error == kOutOfMemory) return;
    driver_.state = Text("error", unreached_[0].step);
    driver_.error_code = Fact<int>(unreached_[0].error, unreached_[0].step);
    driver_.error_call = Text(unreached_[0].step);
    driver_.reason = cat(unreached_[0].step, " answered ", unreached_[0].error);
  }

  static ImageProbe& add_row(Device& device, const std::string& image, const char* result) {
    ImageProbe& row = device.image_probe.add();
    row.image = Text(image);
    row.result = Text(result, "image probe");
    return row;
  }
  // Wanted, and not answered.
  static void add_unknown(Device& device, const std::string& image,
                          const Unreached* why = nullptr) {
    ImageProbe& row = device.image_probe.add();
    row.image = Text(image);
    if (why == nullptr) return;
    row.error = Fact<int>(why->error, why->step);
    row.step = Text(why->step);
  }
  static void add_reason(Device& device, const std::string& text) {
    if (contains(device.reason, text)) return;
    device.reason += cat(device.reason.empty() ? "" : "; ", text);
  }

  Host& host_;
  const Inputs& in_;
  DriverChild& child_;
  DeviceFacts& devices_;
  DriverFacts& driver_;
  List<Unreached> unreached_;
  int asked_ = 0;     // of this child
  std::string over_;  // why nothing more is tried
};

}  // namespace

void load_images(Host& host, const Inputs& in, const TryFolder& folder,
                 const List<BuiltImage>& images, DriverChild& child, Facts& facts) {
  if (child.talk == nullptr || images.empty() || folder.path.empty()) return;
  if (!facts.devices.state.is("measured") || contains(folder.path, "\n")) return;
  ImageLoad(host, in, child, facts).ask(images, folder);
  child.talk.reset();
}

}  // namespace tcs
