// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "base/text.h"
#include "facts/torch_files.h"
#include "memory_host.h"
#include "shared_object.h"

using namespace tcs;

namespace {

const char* const new_check =
    "_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
const char* const old_check = "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs";

SharedObject module() {
  SharedObject out;
  out.symbols = {"PyInit_ops"};
  out.undefined = {"memcpy", new_check};
  out.needed = {"libc10.so", "libtorch_cuda.so", "libcudart.so.12", "libc.so.6"};
  out.fat = {{80, 90}};
  return out;
}

Facts gather(const MemoryHost& host) {
  Facts facts;
  facts.python.search_path = {"/site"};
  facts.torch.cxx11_abi = Flag(true);
  gather_extensions(host, facts);
  CHECK(facts.extensions_known);
  return facts;
}

Extension one(const SharedObject& object) {
  MemoryHost host;
  host.files["/site/ops.cpython-312-x86_64-linux-gnu.so"] = object.bytes();
  Facts facts = gather(host);
  REQUIRE(facts.extensions.size() == 1);
  return facts.extensions[0];
}

}  // namespace

TEST_CASE("an extension module tells its ABI, its CUDA and its images") {
  const Extension ops = one(module());
  CHECK(ops.name.is("ops.cpython-312-x86_64-linux-gnu.so"));
  CHECK(ops.cuda.is("12"));
  CHECK(ops.cxx11_abi.is(true));
  CHECK(ops.images.is({"sm_80", "sm_90"}));
  CHECK_FALSE(ops.ptx_isa.known());
}

TEST_CASE("a module that the search meets is a neighbour, not what is to be judged") {
  CHECK(one(module()).role.is("neighbour"));
}

TEST_CASE("of more modules than are looked at the rest is unknown, not none") {
  MemoryHost host;
  SharedObject other = module();
  other.needed = {"libc.so.6"};
  for (int i = 0; i < 201; ++i) host.files[cat("/site/m", i, ".so")] = other.bytes();
  const Facts facts = gather(host);
  REQUIRE(facts.extensions.size() == 1);
  CHECK_FALSE(facts.extensions[0].images.known());
  CHECK(facts.extensions[0].role.is("neighbour"));
  CHECK(facts.extensions[0].reason == "of 201 modules the first 200 were looked at");
}

TEST_CASE("modules that do not need torch are no extensions of it") {
  MemoryHost host;
  SharedObject other = module();
  other.needed = {"libc.so.6", "libcudart.so.12"};
  host.files["/site/_cffi_backend.so"] = other.bytes();
  host.files["/site/broken.so"] =
      "\x7f"
      "ELF and no more";
  host.files["/site/notes.txt"] = module().bytes();
  host.files["/site/package/_C.so"] = module().bytes();
  CHECK(gather(host).extensions.empty());
}

TEST_CASE("an extension with the old strings has the old ABI") {
  SharedObject old = module();
  old.undefined = {"memcpy", old_check};
  CHECK(one(old).cxx11_abi.is(false));
  old.undefined = {"_ZN5torch7LibraryC1ENS0_4KindESs"};
  CHECK(one(old).cxx11_abi.is(false));
}

TEST_CASE("an extension that hands no strings to torch goes with either ABI") {
  SharedObject plain = module();
  plain.undefined = {"memcpy", "_ZN2at6TensorC1Ev", "_ZNKSs4sizeEv", "_ZNSt7__cxx114fooEv"};
  const Extension ops = one(plain);
  CHECK(ops.cxx11_abi.is(true));
  CHECK(ops.cxx11_abi.from.find("no symbol") == 0);
}

TEST_CASE("a runtime of another CUDA major shows in the names that an extension needs") {
  SharedObject eleven = module();
  eleven.needed = {"libc10.so", "libcudart.so.11.0"};
  CHECK(one(eleven).cuda.is("11"));
  eleven.needed = {"libc10.so", "libcublas.so.13"};
  CHECK(one(eleven).cuda.is("13"));
  eleven.needed = {"libc10.so", "libcufft.so.11"};  // CUDA 12's, which is not told by its number
  CHECK(one(eleven).cuda.is("none"));
}

TEST_CASE("an extension without device code has no images, which is known") {
  SharedObject cpu = module();
  cpu.fat.clear();
  const Extension ops = one(cpu);
  CHECK(ops.images.known());
  CHECK(ops.images.value().empty());
}

TEST_CASE("the standard library's own modules are not looked at") {
  MemoryHost host;
  host.files["/lib/python3.12/lib-dynload/ops.so"] = module().bytes();
  Facts facts;
  facts.python.search_path = {"/lib/python3.12/lib-dynload"};
  gather_extensions(host, facts);
  CHECK(facts.extensions.empty());
}
