// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "facts/fake_images.h"

using namespace tcs;

namespace {

constexpr const char* kReady = "{\"probe\":\"tcs-driver/1\",\"init\":0}\n";

// Children that answer what a test says; each ends as told when it has no answer.
class LoadHost : public MemoryHost {
 public:
  std::function<std::string(const std::string& line)> says;
  Outcome ends = exits(0);
  int children = 0;
  int takes_ms = 10;  // each question

  std::unique_ptr<Talk> talk(const Command& command) override {
    class Child : public Talk {
     public:
      explicit Child(LoadHost& host) : host_(host) {}
      bool ask(const std::string& line, int& left_ms, std::string& answer) override {
        // The first line is the driver's; `N` in an answer stands for the question's number.
        if (!line.empty()) {
          host_.asked.push_back(line);
          lines_ += replace_all(host_.says(line), "N,", cat("\"n\":", ++number_, ","));
        }
        const std::string said = lines_.substr(0, lines_.find('\n') + 1);
        lines_.erase(0, said.size());
        left_ms = said.empty() && host_.ends.state == Outcome::State::TimedOut
                      ? 0
                      : left_ms - host_.takes_ms;
        answer = said.substr(0, said.find('\n'));
        return !said.empty();
      }
      Outcome end() override { return host_.ends; }

     private:
      LoadHost& host_;
      std::string lines_ = kReady;
      int number_ = 0;
    };
    ran.push_back(command);
    ++children;
    return std::make_unique<Child>(*this);
  }
};

struct Machine {
  LoadHost host;
  Inputs in;
  Facts facts;
  DriverChild child;

  explicit Machine(int devices = 1) {
    in.work_dir = "/w";
    facts.devices.state = Text("measured");
    facts.devices.list_known = true;
    for (int i = 0; i < devices; ++i) {
      Device device;
      device.index = Fact<int>(i);
      device.cc = Text("9.0");
      facts.devices.list.push_back(device);
    }
    host.says = [](const std::string&) { return "{N,\"result\":\"runs\",\"value\":1}\n"; };
  }
  void load(const List<std::string>& names) {
    child.talk = host.talk(driver_command(host, in));
    child.left_ms = in.timeout_ms;
    std::string first;
    CHECK(child.talk->ask("", child.left_ms, first));
    child.left_ms = in.timeout_ms;
    List<BuiltImage> images;
    for (const std::string& name : names) images.push_back({wanted(name), "bytes of " + name});
    const TryFolder folder(host, in);
    load_images(host, in, folder, images, child, facts);
  }
  std::string rows(size_t device = 0) const {
    std::string out;
    for (const ImageProbe& row : facts.devices.list[device].image_probe)
      out += cat(out.empty() ? "" : " ", row.image.value(), ":", row.result.or_else("?"),
                 row.result.known() || !row.error.known() ? "" : cat(row.error.value()));
    return out;
  }
  const std::string& reason(size_t device = 0) const { return facts.devices.list[device].reason; }
};

bool about(const std::string& line, const char* image) {
  return contains(line, cat("/", image, ".image"));
}

}  // namespace

TEST_CASE("each image is tried on each device by one child, PTX last") {
  Machine m(2);
  std::string held;
  m.host.says = [&](const std::string& line) {
    held = m.host.files[line.substr(line.find(" /") + 1)];
    if (about(line, "sm_80"))
      return "{N,\"result\":\"refused\",\"error\":209,\"step\":\"cuModuleLoadData\"}\n";
    return about(line, "sm_90a") ? "{N,\"result\":\"wrong\",\"value\":7}\n"
                                 : "{N,\"result\":\"runs\"}\n";
  };
  m.load({"compute_80", "sm_80", "sm_90a"});
  CHECK(m.rows(0) == "sm_80:refused sm_90a:wrong compute_80:runs");
  CHECK(m.rows(1) == m.rows(0));
  const ImageProbe& refused = m.facts.devices.list[0].image_probe[0];
  CHECK(refused.error.is(209));
  CHECK(refused.step.is("cuModuleLoadData"));
  CHECK(m.host.children == 1);
  REQUIRE(m.host.asked.size() == 6);
  CHECK(starts_with(m.host.asked[1], "0 14402 /w/nvcc-try-"));
  CHECK(about(m.host.asked[4], "compute_80"));
  CHECK(held == "bytes of compute_80");
  CHECK_FALSE(m.host.stat("/w").exists());
}

TEST_CASE("the driver's child is not led astray by the user's JIT variables and leaves no cache") {
  Machine m;
  const Command c = driver_command(m.host, m.in);
  for (const char* name : {"CUDA_FORCE_PTX_JIT", "CUDA_DISABLE_PTX_JIT"})
    CHECK(contains(c.unset_env, name));
  CHECK(*c.set_env.find("CUDA_CACHE_DISABLE") == "1");
}

TEST_CASE("an image that crashes the driver is told with what was printed, and the rest goes on") {
  Machine m(2);
  m.host.ends.state = Outcome::State::Signalled;
  m.host.ends.code = 11;
  m.host.ends.err = "NVRM: boom\n";
  m.host.says = [](const std::string& line) {
    return about(line, "sm_90") ? std::string() : "{N,\"result\":\"runs\"}\n";
  };
  m.load({"sm_80", "sm_90", "compute_90"});
  CHECK(m.rows(0) == "sm_80:runs sm_90:crash compute_90:runs");
  CHECK(m.rows(1) == "sm_80:runs sm_90:crash compute_90:runs");
  CHECK(m.host.children == 3);
  CHECK(m.reason(0) ==
        "the driver ended the process that tried sm_90 (killed by signal 11 (SIGSEGV)); it printed "
        "\"NVRM: boom\"");
}

TEST_CASE("after a hang nothing more is asked, and the rest is unknown with its reason") {
  Machine m(2);
  m.host.ends.state = Outcome::State::TimedOut;
  m.host.says = [](const std::string& line) {
    return about(line, "sm_90") ? std::string() : "{N,\"result\":\"runs\"}\n";
  };
  m.load({"sm_80", "sm_90", "compute_90"});
  CHECK(m.rows(0) == "sm_80:runs sm_90:hang compute_90:?");
  CHECK(m.rows(1) == "sm_80:? sm_90:? compute_90:?");
  CHECK(m.host.children == 1);
  CHECK(m.reason(1) == "not every image was tried: the driver gave no answer to sm_90 on device 0");
}

TEST_CASE("when the driver's time is up the rest is unknown, and no image is said to hang") {
  Machine m;
  m.host.takes_ms = 16000;
  m.load({"sm_80", "sm_90", "compute_90"});
  CHECK(m.rows() == "sm_80:runs sm_90:runs compute_90:?");
  CHECK(m.reason() == "not every image was tried: the time that the driver may take is up");
  Machine late;
  late.host.takes_ms = 29000;
  late.host.ends.state = Outcome::State::TimedOut;
  late.host.says = [](const std::string& line) {
    return about(line, "sm_90") ? std::string() : "{N,\"result\":\"runs\"}\n";
  };
  late.load({"sm_80", "sm_90"});
  CHECK(late.rows() == "sm_80:runs sm_90:?");
  CHECK(contains(late.reason(), "gave no answer to sm_90"));
}

TEST_CASE("what a driver prints among the answers is passed over") {
  for (const char* garbage : {"\n", "{N,\"result\":\n", "[]\n", "\x01\n", "{\"result\":\"runs\"}\n",
                              "{\"n\":0,\"result\":\"runs\"}\n"}) {
    Machine m;
    m.host.says = [&](const std::string& line) {
      return cat(about(line, "sm_80") ? garbage : "", "{N,\"result\":\"",
                 about(line, "sm_80") ? "wrong" : "runs", "\"}\n");
    };
    m.load({"sm_80", "sm_90"});
    CHECK(m.rows() == "sm_80:wrong sm_90:runs");
  }
}

TEST_CASE("an answer that nobody knows is no result") {
  Machine m;
  m.host.says = [&](const std::string&) { return "{N,\"result\":\"great\"}\n"; };
  m.load({"sm_90"});
  CHECK(m.rows() == "sm_90:?");
  CHECK(m.reason() == "what was answered to sm_90 cannot be read");
}

TEST_CASE("where no device gives a context that is the driver's error, and no image is to blame") {
  Machine m(2);
  m.facts.driver.state = Text("ok");
  m.host.says = [](const std::string&) {
    return "{N,\"result\":\"unreached\",\"error\":46,\"step\":\"cuDevicePrimaryCtxRetain\"}\n";
  };
  m.load({"sm_80", "sm_90"});
  CHECK(m.rows() == "sm_80:?46 sm_90:?46");
  CHECK(m.reason() == "cuDevicePrimaryCtxRetain answered 46: no image could be tried");
  CHECK(m.host.asked.size() == 2);  // once a device
  CHECK(m.facts.driver.state.is("error"));
  CHECK(m.facts.driver.error_code.is(46));
  CHECK(m.facts.driver.error_call.is("cuDevicePrimaryCtxRetain"));
  CHECK_FALSE(m.facts.devices.list[0].state.known());
}

TEST_CASE(
    "one device that gives no context is that device's error, and memory in use is nobody's") {
  for (int error : {719, 2}) {
    Machine m(2);
    m.facts.driver.state = Text("ok");
    m.host.says = [=](const std::string& line) {
      return starts_with(line, "0")
                 ? cat("{N,\"result\":\"unreached\",\"error\":", error, ",\"step\":\"cuCall\"}\n")
                 : "{N,\"result\":\"runs\"}\n";
    };
    m.load({"sm_80", "compute_90"});
    CHECK(m.rows(0) == cat("sm_80:?", error, " compute_90:?", error));
    CHECK(m.rows(1) == "sm_80:runs compute_90:runs");
    CHECK(m.facts.driver.state.is("ok"));
    CHECK(m.facts.devices.list[0].state.is("error") == (error == 719));
    CHECK(contains(m.reason(0), cat("cuCall answered ", error)));
  }
}

TEST_CASE("a driver that does not start again after a crash ends the trial") {
  Machine m;
  m.host.ends.state = Outcome::State::Signalled;
  m.host.ends.code = 6;
  m.host.says = [](const std::string&) { return std::string(); };
  m.in.timeout_ms = 15;
  m.load({"sm_80", "sm_90", "sm_100"});
  CHECK(m.host.children == 2);
  CHECK(m.rows() == "sm_80:crash sm_90:? sm_100:?");
}

TEST_CASE("nothing is tried without a device, a driver or an image") {
  Machine none(0);
  none.load({"sm_90"});
  CHECK(none.host.asked.empty());
  Machine m;
  m.load({});
  CHECK(m.host.asked.empty());
}
