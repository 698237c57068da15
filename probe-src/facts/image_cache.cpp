// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "facts/image_probe.h"

namespace tcs {
namespace {

// Bounds the cache's size; two keys that meet in a slot cost a compile, no more.
constexpr uint64_t kImageSlots = 256;
constexpr uint64_t kMostImageBytes = 1u << 20;  // of one file; an image has a few thousand

std::string image_file(const Inputs& in, const std::string& key) {
  return path_join(in.cache_dir, cat("images/", fnv1a(key) % kImageSlots, ".image"));
}

// Says how long the parts are and what they are: a torn file does not fit it.
std::string image_head(const std::string& key, std::string_view bytes) {
  return cat("torch-cuda-stack/image/1 ", key.size(), " ", bytes.size(), " ", fnv1a(bytes)) + "\n";
}

}  // namespace

std::string image_key(const Toolkit& toolkit, const WantedImage& wanted, const char* source) {
  return cat(toolkit.key, wanted.flag(), "\n", source);
}

bool recall_image(const Host& host, const Inputs& in, const std::string& key, std::string& bytes) {
  if (in.cache_dir.empty()) return false;
  Result<std::string> text = host.read(image_file(in, key), kMostImageBytes);
  if (!text) return false;
  const size_t begin = text->find('\n') + 1 + key.size();
  if (begin > text->size()) return false;
  const std::string_view image = std::string_view(*text).substr(begin);
  if (image.empty() || text->substr(0, begin) != image_head(key, image) + key) return false;
  bytes = image;
  return true;
}

void keep_image(Host& host, const Inputs& in, const std::string& key, const std::string& bytes) {
  if (in.cache_dir.empty()) return;
  const std::string path = image_file(in, key);
  if (host.make_directories(path_parent(path)))
    (void)host.write_atomic(path, image_head(key, bytes) + key + bytes).operator bool();
}

}  // namespace tcs
