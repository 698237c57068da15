// SPDX-License-Identifier: Apache-2.0
// One translation unit of tcstack-core: what reads images, compiled with -O1: thousands of small
// reads a file.
#include "readers/archive.cpp"
#include "readers/cubin.cpp"
#include "readers/dynamic.cpp"
#include "readers/elf.cpp"
#include "readers/images.cpp"
#include "readers/inventory.cpp"
#include "readers/window.cpp"
