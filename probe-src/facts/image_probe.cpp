// SPDX-License-Identifier: Apache-2.0
#include "facts/image_probe.h"

#include "base/text.h"

namespace tcs {

std::string WantedImage::flag() const {
  return cat("-gencode=arch=", virt.virt(), ",code=", image().str());
}

unsigned WantedImage::code() const {
  const unsigned arch = static_cast<unsigned>(virt.major * 100 + virt.minor * 10);
  return arch * 16 + (virt.suffix == 'a' ? 2 : virt.suffix == 'f' ? 1 : 0);
}

void probe_images(Host& host, const Inputs& in, const List<WantedImage>& wanted, DriverChild& child,
                  Facts& facts) {
  const TryFolder folder(host, in);
  const List<BuiltImage> built = build_images(host, in, folder, wanted, facts);
  load_images(host, in, folder, built, child, facts);
}

}  // namespace tcs
