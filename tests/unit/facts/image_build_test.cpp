// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "facts/fake_images.h"

using namespace tcs;

namespace {

struct Machine {
  ImageHost host;
  Inputs in;
  Facts facts;
  List<BuiltImage> built;

  Machine() {
    in.work_dir = "/w";
    in.cache_dir = "/cache";
  }
  // A configure for these images.
  Toolkit& build(const List<WantedImage>& images) {
    facts = Facts();
    host.compiled.clear();
    gather_toolkits(host, in, facts);
    const TryFolder folder(host, in);
    built = build_images(host, in, folder, images, facts);
    return facts.toolkits.list[0];
  }
  std::string rows() const {
    std::string out;
    for (const ImageBuild& row : facts.toolkits.list[0].builds)
      out += cat(out.empty() ? "" : " ", row.image.value(), ":", row.result.or_else("?"));
    return out;
  }
  std::string compiles() const {
    List<std::string> out;
    for (const Command& c : host.compiled) out.push_back(ImageHost::asked_of(c));
    return join(out, " | ");
  }
  std::string bytes(const std::string& image) const {
    for (const BuiltImage& one : built)
      if (one.wanted.image().str() == image) return one.bytes;
    return "none";
  }
};

const List<WantedImage> three = {wanted("sm_80"), wanted("sm_90"), wanted("compute_90")};

}  // namespace

TEST_CASE("one call of nvcc builds the plan's images and tells that the toolkit works") {
  Machine m;
  Toolkit& t = m.build(three);
  CHECK(m.compiles() == "sm_80 sm_90 compute_90");
  CHECK(m.rows() == "sm_80:built sm_90:built compute_90:built");
  CHECK(t.works.is(true));
  CHECK(t.works.from == "test compile");
  CHECK(t.cicc.is("13.2.78"));
  CHECK(m.bytes("sm_80") == "cubin of sm_80");
  CHECK(m.bytes("compute_90") == ".version 8.5\n.target sm_90\n");
  CHECK_FALSE(m.host.stat("/w").exists());  // nothing is left behind
}

TEST_CASE("without images the test compile is that of nvcc's default architecture") {
  Machine m;
  CHECK(m.build({}).works.is(true));
  CHECK(m.compiles().empty());
  CHECK(m.host.compiled.size() == 1);
  CHECK(m.rows().empty());
}

TEST_CASE("an image is compiled by way of the virtual architecture that the list names") {
  Machine m;
  m.build({wanted("sm_90", "compute_80")});
  CHECK(contains(m.host.compiled[0].argv, "-gencode=arch=compute_80,code=sm_90"));
  CHECK(m.built[0].wanted.code() == 800 * 16);
  CHECK(wanted("sm_90a").code() == 900 * 16 + 2);
  CHECK(wanted("compute_120f").code() == 1200 * 16 + 1);
}

TEST_CASE("an architecture that nvcc names in its refusal is left out and the others are built") {
  Machine m;
  m.host.unknown = {"compute_35"};
  m.build({wanted("sm_35"), wanted("sm_80"), wanted("compute_35")});
  CHECK(m.compiles() == "sm_35 sm_80 compute_35 | sm_80");
  CHECK(m.rows() == "sm_35:refused compute_35:refused sm_80:built");
  CHECK(m.facts.toolkits.list[0].builds[0].text.is(
      "nvcc fatal   : Unsupported gpu architecture 'compute_35'"));
  CHECK(m.facts.toolkits.list[0].works.is(true));
}

TEST_CASE("a failure that names no architecture is bisected to the image at fault") {
  Machine m;
  m.host.broken = {"sm_100"};
  Toolkit& t = m.build({wanted("sm_80"), wanted("sm_90"), wanted("sm_100"), wanted("compute_100")});
  CHECK(t.works.is(true));  // the default architecture compiles
  CHECK(m.rows() == "sm_80:built sm_90:built sm_100:refused compute_100:built");
  CHECK(t.builds[2].text.is("ptxas fatal   : Internal error for sm_100"));
  CHECK(t.builds.size() == 4);
}

TEST_CASE("where nothing compiles at all that is the finding, and no image is to blame") {
  Machine m;
  m.host.compile_error = "cannot execute 'cicc'\nsh: cicc: not found\n";
  Toolkit& t = m.build(three);
  CHECK(t.works.is(false));
  CHECK(t.failure.kind.is("cicc"));
  CHECK(m.compiles() == "sm_80 sm_90 compute_90 | ");
  CHECK(m.rows().empty());
}

TEST_CASE("a wrapper that refuses the options that save time builds the images without them") {
  for (const char* option : {"-t", "-no-compress", "-Wno-deprecated-gpu-targets"}) {
    Machine m;
    auto nvcc = m.host.on_run;
    m.host.on_run = [&](const Command& c) {
      if (!contains(c.argv, option)) return nvcc(c);
      return MemoryHost::exits(1, "", cat("nvcc fatal   : Unknown option '", option, "'\n"));
    };
    m.build(three);
    CHECK(m.rows() == "sm_80:built sm_90:built compute_90:built");
  }
}

TEST_CASE("a compile that hangs is not asked twice") {
  Machine m;
  auto nvcc = m.host.on_run;
  m.host.on_run = [&](const Command& c) {
    Outcome said = nvcc(c);
    if (!contains(c.argv, "-c") || contains(c.argv, "--dryrun")) return said;
    said.state = Outcome::State::TimedOut;
    said.ms = 30000;
    return said;
  };
  Toolkit& t = m.build(three);
  CHECK(t.failure.kind.is("hang"));
  CHECK(m.host.compiled.size() == 1);
}

TEST_CASE("what the object does not hold, or holds for another architecture, is wrong") {
  Machine m;
  m.host.left_out = {"sm_90"};
  Toolkit& t = m.build(three);
  CHECK(m.rows() == "sm_80:built sm_90:wrong compute_90:built");
  CHECK(t.builds[1].text.is("the object holds sm_80, compute_90"));
  CHECK(m.bytes("sm_90") == "none");
}

TEST_CASE("PTX whose text is for another architecture than its header says is wrong") {
  Machine m;
  auto nvcc = m.host.on_run;
  m.host.on_run = [&](const Command& c) {
    Outcome said = nvcc(c);
    if (contains(c.argv, "-c") && !contains(c.argv, "--dryrun"))
      m.host.files[c.cwd + "/try.o"] = fat_binary(
          fat_entry(wanted("compute_90").image(), ".version 8.5\n.target sm_90a, debug\n"));
    return said;
  };
  m.build({wanted("compute_90")});
  CHECK(m.rows() == "compute_90:wrong");
}

TEST_CASE("a packed image is handed on as a fat binary of its own") {
  Machine m;
  m.host.packed = true;
  m.build({wanted("sm_80"), wanted("sm_90a")});
  CHECK(m.bytes("sm_90a") ==
        fat_binary(fat_entry(wanted("sm_90a").image(), "cubin of sm_90a", true)));
}

TEST_CASE("an f image beside another of its architecture takes a second call") {
  Machine m;
  m.build({wanted("sm_100"), wanted("sm_100f"), wanted("sm_103f"), wanted("compute_100f")});
  CHECK(m.compiles() == "sm_100 sm_103f | compute_100f sm_100f");
  CHECK(m.built.size() == 4);
}

TEST_CASE("images are kept for the next project, and only what is missing is compiled") {
  Machine m;
  m.build(three);
  m.build({wanted("sm_80"), wanted("sm_100")});
  CHECK(m.compiles() == "sm_100");
  CHECK(m.rows() == "sm_80:built sm_100:built");
  CHECK(m.bytes("sm_80") == "cubin of sm_80");
  m.build(three);
  CHECK(m.host.compiled.empty());
  CHECK(m.bytes("compute_90") == ".version 8.5\n.target sm_90\n");
  SECTION("another nvcc makes its own") {
    m.host.files["/usr/local/cuda/bin/ptxas"] = "ELF of another";
    m.build(three);
    CHECK(m.compiles() == "sm_80 sm_90 compute_90");
  }
  SECTION("another way to the same image is another image") {
    m.build({wanted("sm_90", "compute_80")});
    CHECK(m.compiles() == "sm_90");
  }
  SECTION("without a cache everything is compiled") {
    m.in.cache_dir.clear();
    m.build(three);
    CHECK(m.compiles() == "sm_80 sm_90 compute_90");
  }
  SECTION("a refusal is not kept") {
    m.host.unknown = {"compute_100"};
    m.build({wanted("sm_80"), wanted("compute_100")});
    m.build({wanted("sm_80"), wanted("compute_100")});
    CHECK(m.compiles() == "compute_100");
  }
}

TEST_CASE("the cache of images stays bounded, and images of one plan do not drive each other out") {
  Machine m;
  List<WantedImage> many;
  for (int minor = 0; minor < 60; ++minor) many.push_back(wanted(cat("sm_", 100 + minor)));
  m.build(many);
  m.build(many);
  CHECK(m.host.compiled.empty());
  for (int n = 0; n < 40; ++n) {
    m.host.files["/usr/local/cuda/bin/ptxas"] =
        cat("ELF ", n, std::string(static_cast<size_t>(n), 'x'));
    m.build(many);
  }
  size_t files = 0;
  for (const auto& file : m.host.files) files += starts_with(file.first, "/cache/images/");
  CHECK(files <= 256);
}

TEST_CASE("a torn or foreign file of the cache is no image") {
  Machine m;
  m.build(three);
  for (auto& file : m.host.files) {
    if (!starts_with(file.first, "/cache/images/")) continue;
    SECTION("cut " + file.first) {
      file.second.resize(file.second.size() - 1);
    }
    SECTION("empty " + file.first) {
      file.second.clear();
    }
    SECTION("one bit " + file.first) {
      file.second.back() ^= 1;
    }
    SECTION("another key " + file.first) {
      file.second[file.second.find('\n') + 3] ^= 1;
    }
    SECTION("no line " + file.first) {
      file.second = "torch-cuda-stack/image/1";
    }
  }
  m.build(three);
  CHECK(m.built.size() == 3);
  for (const BuiltImage& image : m.built) CHECK(image.bytes.size() > 10);
  CHECK(m.bytes("sm_80") == "cubin of sm_80");
  CHECK(m.bytes("sm_90") == "cubin of sm_90");
}

TEST_CASE("nvcc flags that would add images are asked by themselves and kept out of the images") {
  Machine m;
  m.host.variables["NVCC_APPEND_FLAGS"] = "-arch=sm_50 -ccbin /usr/bin/g++-11";
  m.build(three);
  REQUIRE(m.host.compiled.size() == 2);
  CHECK(ImageHost::asked_of(m.host.compiled[0]).empty());
  CHECK(m.host.compiled[0].unset_env.empty());
  CHECK(contains(m.host.compiled[1].unset_env, "NVCC_APPEND_FLAGS"));
  CHECK(contains(m.host.compiled[1].argv, "/usr/bin/g++-11"));
  CHECK(m.built.size() == 3);
  m.host.variables["NVCC_APPEND_FLAGS"] = "-O2 -ccbin /usr/bin/g++-11";
  m.build(three);
  CHECK(m.host.compiled.size() == 1);  // others are the user's build, and stay
  CHECK(m.host.compiled[0].unset_env.empty());
}

TEST_CASE("an old nvcc is given no option that it does not know") {
  Machine m;
  m.host.releases["/usr/local/cuda/bin/nvcc"] = "11.1.105";
  m.build(three);
  CHECK_FALSE(contains(m.host.compiled[0].argv, "-t"));
  CHECK_FALSE(contains(m.host.compiled[0].argv, "-no-compress"));
}

TEST_CASE("what a killed configure left is cleared away, and what another is at work in is not") {
  Machine m;
  m.build(three);  // from here on all images come from the cache
  m.host.links["/proc/self"] = "6";
  for (const char* process : {"6", "7"}) m.host.files[cat("/proc/", process, "/stat")] = "";
  for (const char* name : {"nvcc-try-6", "nvcc-try-7", "nvcc-try-8", "mine"})
    m.host.files[cat("/w/", name, "/sm_90.image")] = "of then";
  const TryFolder folder(m.host, m.in);
  CHECK(folder.path == "/w/nvcc-try-6");
  for (const char* name : {"nvcc-try-7", "mine"}) CHECK(m.host.stat(cat("/w/", name)).exists());
  for (const char* name : {"nvcc-try-6", "nvcc-try-8"})
    CHECK_FALSE(m.host.stat(cat("/w/", name)).exists());
}

TEST_CASE("nothing is built without a work folder, or in one whose name a shell would expand") {
  Machine m;
  m.in.work_dir.clear();
  m.build(three);
  CHECK(m.host.compiled.empty());
  m.in.work_dir = "/w/`x`";
  CHECK(contains(m.build(three).reason, "holds characters that one expands"));
  CHECK(m.rows() == "sm_80:? sm_90:? compute_90:?");
  CHECK(m.host.compiled.empty());
}
