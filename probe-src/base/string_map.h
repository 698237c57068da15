// SPDX-License-Identifier: Apache-2.0
// Names and values in the order of names: tens of them, such as an environment has. Not std::map,
// which is forty kilobytes of the unoptimised tcstack-core.
#pragma once
#include <initializer_list>
#include <string>
#include <utility>

#include "base/list.h"

namespace tcs {

class StringMap {
 public:
  using Item = std::pair<std::string, std::string>;

  StringMap() = default;
  StringMap(std::initializer_list<Item> items);
  const std::string* find(const Piece& name) const;  // null: it is not there
  std::string& operator[](const Piece& name);        // made where it is not there
  void erase(const Piece& name);
  void clear() { items_.clear(); }
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  const Item* begin() const { return items_.begin(); }
  const Item* end() const { return items_.end(); }

 private:
  size_t place_of(const Piece& name) const;  // of the first that is not before it
  bool is_at(size_t i, const Piece& name) const;

  List<Item> items_;
};

}  // namespace tcs
