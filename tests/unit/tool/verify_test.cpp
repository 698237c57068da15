// SPDX-License-Identifier: Apache-2.0
#include "tool/verify.h"

#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "memory_host.h"
#include "readers/make_bytes.h"

using namespace tcs;

namespace {

std::string object_with(const std::vector<make::Entry>& images) {
  return make::elf({{".nv_fatbin", make::fat_binary(images)}});
}

// A shared library that also has section headers, one of them .nv_fatbin.
std::string library_with(const make::Library& library, const std::string& fat) {
  std::string bytes = make::library(library);
  std::string names("\0.nv_fatbin\0.shstrtab\0", 22);
  Elf64_Shdr headers[3] = {};
  headers[1].sh_name = 1;
  headers[1].sh_type = SHT_PROGBITS;
  headers[1].sh_offset = bytes.size();
  headers[1].sh_size = fat.size();
  headers[2].sh_name = 12;
  headers[2].sh_type = SHT_STRTAB;
  headers[2].sh_offset = bytes.size() + fat.size();
  headers[2].sh_size = names.size();
  bytes += fat + names;
  bytes = make::patched(bytes, offsetof(Elf64_Ehdr, e_shoff), uint64_t{bytes.size()});
  bytes = make::patched(bytes, offsetof(Elf64_Ehdr, e_shnum), uint16_t{3});
  bytes = make::patched(bytes, offsetof(Elf64_Ehdr, e_shstrndx), uint16_t{2});
  for (const Elf64_Shdr& header : headers) bytes += make::raw(header);
  return bytes;
}

// A target of two sources, and what was linked from them.
MemoryHost built(const std::string& first, const std::string& second, const std::string& linked) {
  MemoryHost host;
  host.files["/b/one.cu.o"] = first;
  host.files["/b/two.cpp.o"] = make::elf({{".text", "code"}});
  host.files["/b/two.cu.o"] = second;
  host.files["/b/lib.so"] = linked;
  host.files["/b/objects.txt"] = "/b/one.cu.o\n/b/two.cpp.o\n/b/two.cu.o\n\n";
  host.files["/b/plan.json"] =
      R"({"schema": "torch-cuda-stack/plan/1", "images": [
         {"image": "sm_80"}, {"image": "sm_90a"}, {"image": "compute_90"}]})";
  return host;
}

const std::vector<make::Entry> planned = {make::cubin(80), make::cubin(90, 0x100000),
                                          make::ptx(90, 8, 5)};

VerifyRequest by_plan() {
  return {{"/b/lib.so"}, "/b/plan.json", "", "/b/objects.txt", ""};
}

}  // namespace

TEST_CASE("a target that holds the plan's images is verified") {
  std::string all = object_with(planned);
  MemoryHost host = built(all, all, all);
  Verdict v = verify(host, by_plan());
  CHECK(v.status == 0);
  CHECK(starts_with(v.text, "verified: every fat binary holds sm_80 sm_90a compute_90\n"));
}

TEST_CASE(
    "one source that lost an architecture fails, though the linked file has it from another") {
  std::string all = object_with(planned);
  MemoryHost host = built(all, object_with({make::cubin(80)}), all);
  Verdict v = verify(host, by_plan());
  CHECK(v.status == 1);
  CHECK(contains(v.text, "/b/two.cu.o: 1 of 1 fat binary lacks sm_90a compute_90 (there: sm_80)"));
  CHECK(contains(v.text, "help: look for a flag that replaces the architectures"));
}

TEST_CASE("sm_90 is not sm_90a") {
  std::string plain = object_with({make::cubin(80), make::cubin(90), make::ptx(90, 8, 5)});
  MemoryHost host = built(plain, plain, plain);
  Verdict v = verify(host, by_plan());
  CHECK(v.status == 1);
  CHECK(contains(v.text, "lacks sm_90a"));
}

TEST_CASE("images of linked archives are listed, not judged") {
  std::string all = object_with(planned);
  std::string linked =
      make::elf({{".nv_fatbin", make::fat_binary(planned) + make::fat_binary({make::cubin(75)})}});
  MemoryHost host = built(all, all, linked);
  Verdict v = verify(host, by_plan());
  CHECK(v.status == 0);
  CHECK(contains(v.text, "/b/lib.so: 2 fat binaries, also holds sm_75"));
}

TEST_CASE("a link that dropped the device code fails") {
  std::string all = object_with(planned);
  MemoryHost host = built(all, all, make::elf({{".text", "code"}}));
  Verdict v = verify(host, by_plan());
  CHECK(v.status == 1);
  CHECK(contains(v.text, "/b/lib.so: no fat binary holds sm_80 sm_90a compute_90"));
}

TEST_CASE("where no object of its own holds device code (OBJECT libraries), the file is judged") {
  std::string all = object_with(planned);
  MemoryHost host = built(all, all, all);
  host.files["/b/objects.txt"] = "/b/two.cpp.o\n";
  CHECK(verify(host, by_plan()).status == 0);
  host.files["/b/lib.so"] = object_with({make::cubin(80)});
  Verdict lacking = verify(host, by_plan());
  CHECK(lacking.status == 1);
  CHECK(contains(lacking.text,
                 "/b/lib.so: 1 of 1 fat binary lacks sm_90a compute_90 (there: sm_80)"));
  host.files["/b/lib.so"] = make::elf({{".text", "code"}});
  Verdict none = verify(host, by_plan());
  CHECK(none.status == 1);
  CHECK(contains(none.text, "/b/lib.so: holds no device code"));
}

TEST_CASE("the rest of a target's objects needs hold no device code, and what it holds is judged") {
  MemoryHost host = built(make::elf({{".text", "code"}}), make::elf({{".text", "code"}}),
                          object_with({make::cubin(80)}));
  VerifyRequest request = by_plan();
  request.rest = true;
  CHECK(verify(host, request).status == 0);
  host.files["/b/two.cu.o"] = object_with({make::cubin(80)});
  CHECK(verify(host, request).status == 1);
}

TEST_CASE("a declared set goes before the plan's") {
  std::string one = object_with({make::cubin(90, 0x100000)});
  MemoryHost host = built(one, one, one);
  VerifyRequest request = by_plan();
  request.images = "sm_90a";
  CHECK(verify(host, request).status == 0);
}

TEST_CASE("declared capabilities are the images wanted") {
  std::string one = object_with({make::cubin(86), make::cubin(90), make::ptx(90, 8, 5)});
  MemoryHost host = built(one, one, one);
  VerifyRequest request = by_plan();
  request.targets = "8.6;9.0+PTX";
  CHECK(verify(host, request).status == 0);
  request.targets = "8.6+PTX";
  Verdict v = verify(host, request);
  CHECK(v.status == 1);
  CHECK(contains(v.text, "lacks compute_86"));
  request.targets = "8.6;native";
  v = verify(host, request);
  CHECK(v.status == 2);
  CHECK(contains(v.text, "--targets: 'native' depends on the machine"));
  request.targets = "8.6+ptx";
  v = verify(host, request);
  CHECK(v.status == 2);
  CHECK(contains(v.text, "is no capability such as 9.0 or 9.0+PTX; did you mean 8.6+PTX"));
  request.targets = ";";
  CHECK(verify(host, request).status == 2);
}

TEST_CASE("a CUDA library of another major than torch loads fails") {
  std::string all = object_with(planned);
  MemoryHost host =
      built(all, all,
            library_with({"lib.so", {"libcudart.so.12", "libc.so.6"}}, make::fat_binary(planned)));
  host.files["/b/facts.json"] = R"({"schema": "torch-cuda-stack/facts/1",
    "torch": {"state": "found", "version": "2.15.0+cu132"},
    "libraries": [{"soname": "libcudart.so.13", "state": "found"}]})";
  VerifyRequest request{{"/b/lib.so"}, "/b/plan.json", "", "", "/b/facts.json"};
  Verdict v = verify(host, request);
  INFO(v.text);
  CHECK(v.status == 1);
  CHECK(contains(v.text,
                 "/b/lib.so: needs libcudart.so.12, PyTorch 2.15.0+cu132 loads libcudart.so.13"));
}

TEST_CASE("what is no plan, no list and no built file is bad input with its place") {
  std::string all = object_with(planned);
  MemoryHost host = built(all, all, all);
  auto refused = [&](VerifyRequest request, const char* text) {
    Verdict v = verify(host, request);
    CHECK(v.status == 2);
    INFO(v.text);
    CHECK(contains(v.text, text));
  };
  VerifyRequest r = by_plan();
  r.images = "sm_90,quux";
  refused(r, "--images: 'quux' is no image name such as sm_90 or compute_90");
  r = by_plan();
  r.plan = "/b/none.json";
  refused(r, "/b/none.json: No such file or directory");
  host.files["/b/plan.json"] = "{\"images\": [}";
  refused(by_plan(), "/b/plan.json: line 1, column 13");
  host.files["/b/plan.json"] = "{\"images\": []}";
  refused(by_plan(), "/b/plan.json: names no image to look for");
  host.files["/b/plan.json"] = "{}";
  refused(by_plan(), "has no array \"images\"; expected a plan.json");
  r = by_plan();
  r.images = "sm_80";
  r.files = {"/b/objects.txt"};
  refused(r, "/b/objects.txt");
}
