// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "facts/image_probe.h"

namespace tcs {
namespace {

// Bounds the cache's size. Each image has a few places, so that those of one plan do not drive each
// other out.
constexpr uint64_t kImageSlots = 256, kPlaces = 4;
constexpr uint64_t kMostImageBytes = 1u << 20;  // of one file; an image has a few thousand

std::string image_file(const Inputs& in, uint64_t hash, uint64_t place) {
  // FNV-1a's high bits: the lowest know only the lowest of the text.
  return path_join(in.cache_dir,
                   cat("images/", (hash >> (16 + 12 * place)) % kImageSlots, ".image"));
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
  const uint64_t hash = fnv1a(key);
  for (uint64_t place = 0; place < kPlaces; ++place) {
    Result<std::string> text = host.read(image_file(in, hash, place), kMostImageBytes);
    if (!text) continue;
    const size_t begin = text->find('\n') + 1 + key.size();
    if (begin >= text->size()) continue;
    const std::string_view image = std::string_view(*text).substr(begin);
    if (text->substr(0, begin) != image_head(key, image) + key) continue;
    bytes = image;
    return true;
  }
  return false;
}

void keep_image(Host& host, const Inputs& in, const std::string& key, const std::string& bytes) {
  std::string kept;  // by another configure meanwhile
  if (in.cache_dir.empty() || recall_image(host, in, key, kept)) return;
  const uint64_t hash = fnv1a(key);
  // The first free one, else any.
  std::string path = image_file(in, hash, hash % kPlaces);
  for (uint64_t place = kPlaces; place-- > 0;)
    if (const std::string free = image_file(in, hash, place); !host.stat(free).exists())
      path = free;
  if (host.make_directories(path_parent(path)))
    (void)host.write_atomic(path, image_head(key, bytes) + key + bytes).operator bool();
}

}  // namespace tcs
