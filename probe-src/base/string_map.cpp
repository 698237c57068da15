// SPDX-License-Identifier: Apache-2.0
#include "base/string_map.h"

namespace tcs {

StringMap::StringMap(std::initializer_list<Item> items) {
  for (const Item& item : items) (*this)[item.first] = item.second;
}

size_t StringMap::place_of(const Piece& name) const {
  size_t first = 0, last = items_.size();
  while (first < last) {
    const size_t middle = (first + last) / 2;
    if (items_[middle].first.compare(name.view()) < 0)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

bool StringMap::is_at(size_t i, const Piece& name) const {
  return i < items_.size() && items_[i].first == name.view();
}

const std::string* StringMap::find(const Piece& name) const {
  const size_t i = place_of(name);
  return is_at(i, name) ? &items_[i].second : nullptr;
}

std::string& StringMap::operator[](const Piece& name) {
  const size_t i = place_of(name);
  if (!is_at(i, name)) {
    items_.add().first = name.view();
    for (size_t at = items_.size() - 1; at > i; --at) items_[at].swap(items_[at - 1]);
  }
  return items_[i].second;
}

void StringMap::erase(const Piece& name) {
  const size_t i = place_of(name);
  if (is_at(i, name)) items_.erase(items_.begin() + i);
}

}  // namespace tcs
