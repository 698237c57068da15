// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "emit/emit.h"

using namespace tcs;

namespace {

ImageList sample() {
  Image sm80{Sm{8, 0, 0}, false}, sm90a{Sm{9, 0, 'a'}, false}, ptx90{Sm{9, 0, 0}, true};
  ImageList list;
  list.path = "/lib/libx.so";
  list.fat_binaries = 3;
  list.relocatable = 1;
  list.images = {{sm80, 3, 3}, {ptx90, 1, 1}, {sm90a, 12, 1}};
  list.sets = {{{sm80}, 2}, {{sm80, ptx90, sm90a}, 1}};
  list.ptx_isa = {"8.5"};
  list.ptx_unread = 1;
  list.others = {{8, 2}, {32, 1}};
  return list;
}

}  // namespace

TEST_CASE("the table of images has counts, fat binaries, PTX and what is neither") {
  CHECK(images_table({sample()}) ==
        "/lib/libx.so: 3 fat binaries, of these 1 for the device link\n"
        "  arch          kind    images  fat binaries\n"
        "  sm_80         cubin        3             3\n"
        "  compute_90    PTX          1             1\n"
        "  sm_90a        cubin       12             1\n"
        "  PTX .version 8.5\n"
        "  PTX .version unknown: 1 image\n"
        "  2 entries of kind 8 (LTO code), neither cubin nor PTX\n"
        "  1 entry of kind 32, neither cubin nor PTX\n");
}

TEST_CASE("tables of several files stand apart, and a file without device code says so") {
  ImageList none, one;
  none.path = "a.o";
  one.path = "b.o";
  one.fat_binaries = 1;
  one.images = {{Image{Sm{12, 0, 'f'}, false}, 1, 1}};
  CHECK(images_table({none, one}) ==
        "a.o: no device code\n\n"
        "b.o: 1 fat binary\n"
        "  arch          kind    images  fat binaries\n"
        "  sm_120f       cubin        1             1\n"
        "  no PTX\n");
}

TEST_CASE("the images JSON keeps the order of the files and has an error in place of a list") {
  Json json =
      images_json({{"/no", Error{"No such file or directory", "/no"}}, {"/lib/libx.so", sample()}});
  CHECK(write_json(json, 0) ==
        R"({"schema":"torch-cuda-stack/images/1","files":[)"
        R"({"path":"/no","error":"/no: No such file or directory"},)"
        R"({"path":"/lib/libx.so","fat_binaries":3,"relocatable":1,"images":[)"
        R"({"kind":"cubin","arch":"sm_80","count":3,"fat_binaries":3},)"
        R"({"kind":"ptx","arch":"compute_90","count":1,"fat_binaries":1},)"
        R"({"kind":"cubin","arch":"sm_90a","count":12,"fat_binaries":1}],)"
        R"("sets":[{"images":["sm_80"],"count":2},)"
        R"({"images":["sm_80","compute_90","sm_90a"],"count":1}],)"
        R"("ptx_isa":["8.5"],"ptx_isa_unknown":1,)"
        R"("other":[{"kind":8,"count":2},{"kind":32,"count":1}]}]})");
}
