// SPDX-License-Identifier: Apache-2.0
// Asks the stack instead of predicting: nvcc for an image of one small kernel for each architecture
// of the plan, and each visible device to load and run them.
#pragma once
#include <string>

#include "base/sm.h"
#include "facts/driver.h"
#include "facts/toolkit_compile.h"

namespace tcs {

struct WantedImage {
  Sm virt, real;
  bool ptx = false;  // then real does not count
  Image image() const { return Image{ptx ? virt : real, ptx}; }
  std::string flag() const;  // "-gencode=arch=compute_80,code=sm_86"
  unsigned code() const;     // what its kernel answers: kernels/image_probe.cu
};

struct BuiltImage {
  WantedImage wanted;
  std::string bytes;  // as cuModuleLoadData takes them
};

// The test compile that tells whether the chosen toolkit works, and what is wanted, in one call of
// nvcc where that can be; then each built image on each visible device, by the driver's child.
// Fills works, failure, cicc, builds of the toolkit and image_probe of the devices.
void probe_images(Host& host, const Inputs& in, const List<WantedImage>& wanted, DriverChild& child,
                  Facts& facts);

// The two halves. image_build.cpp, image_load.cpp.
List<BuiltImage> build_images(Host& host, const Inputs& in, const TryFolder& folder,
                              const List<WantedImage>& wanted, Facts& facts);
void load_images(Host& host, const Inputs& in, const TryFolder& folder,
                 const List<BuiltImage>& images, DriverChild& child, Facts& facts);

// The user's cache of images: by nvcc and all that its answers follow from, architecture, source.
// What is torn or another's is no image. image_cache.cpp
std::string image_key(const Toolkit& toolkit, const WantedImage& wanted, const char* source);
bool recall_image(const Host& host, const Inputs& in, const std::string& key, std::string& bytes);
void keep_image(Host& host, const Inputs& in, const std::string& key, const std::string& bytes);

}  // namespace tcs
