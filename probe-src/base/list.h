// SPDX-License-Identifier: Apache-2.0
// A growing array, as much of std::vector as tcstack uses. Without optimisation std::vector costs
// some sixty functions for each element type in each translation unit; they were half of
// tcstack-core. Here memory is managed by code compiled once (list.cpp), which knows an element
// only by four numbers and functions; begin() and end() are plain pointers.
#pragma once
#include <string.h>

#include <cstddef>
#include <initializer_list>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "base/piece.h"

namespace tcs {

struct ListOps {
  size_t size;                                         // of one element
  void (*copy)(void* to, const void* from, size_t n);  // into raw memory
  void (*relocate)(void* to, void* from, size_t n);    // into raw memory; leaves raw memory
  void (*destroy)(void* at, size_t n);
};

class ListBase {
 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void clear();
  void reserve(size_t n);
  void pop_back();

 protected:
  explicit ListBase(const ListOps* ops) : ops_(ops) {}
  ListBase(const ListBase& other);
  ListBase(ListBase&& other) noexcept;
  ListBase& operator=(const ListBase& other);
  ListBase& operator=(ListBase&& other) noexcept;
  ~ListBase();

  void* grown();  // raw memory at the end for one more, counted already
  void append_copies(const void* from, size_t n);
  void erase_at(size_t index);

  const ListOps* ops_;
  void* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

template <class T>
void list_copy(void* to, const void* from, size_t n) {
  for (size_t i = 0; i < n; ++i) new (static_cast<T*>(to) + i) T(static_cast<const T*>(from)[i]);
}
template <class T>
void list_relocate(void* to, void* from, size_t n) {
  T* source = static_cast<T*>(from);
  for (size_t i = 0; i < n; ++i) {
    new (static_cast<T*>(to) + i) T(static_cast<T&&>(source[i]));
    source[i].~T();
  }
}
template <class T>
void list_destroy(void* at, size_t n) {
  for (size_t i = 0; i < n; ++i) static_cast<T*>(at)[i].~T();
}
// Of what is plain bytes (pointers, numbers, images): one of each size serves all types.
template <size_t size>
void list_copy_bytes(void* to, const void* from, size_t n) {
  if (n != 0) memcpy(to, from, n * size);
}
template <size_t size>
void list_move_bytes(void* to, void* from, size_t n) {
  if (n != 0) memcpy(to, from, n * size);
}
inline void list_drop_bytes(void*, size_t) {}

template <class T>
constexpr ListOps list_ops() {
  if constexpr (std::is_trivially_copyable_v<T>)
    return {sizeof(T), list_copy_bytes<sizeof(T)>, list_move_bytes<sizeof(T)>, list_drop_bytes};
  else
    return {sizeof(T), list_copy<T>, list_relocate<T>, list_destroy<T>};
}
template <class T>
constexpr ListOps kListOps = list_ops<T>();

// What a list in braces is made of: literals and views need not be strings first.
template <class T>
struct ListItem {
  using type = T;
};
template <>
struct ListItem<std::string> {
  using type = Piece;
};

template <class T>
class List : public ListBase {
  using Items = std::initializer_list<typename ListItem<T>::type>;

 public:
  List() : ListBase(&kListOps<T>) {}
  List(Items values) : List() { append(values); }
  explicit List(size_t n, const T& value = T()) : List() {
    for (size_t i = 0; i < n; ++i) push_back(value);
  }

  T* begin() { return static_cast<T*>(data_); }
  T* end() { return static_cast<T*>(data_) + size_; }
  const T* begin() const { return static_cast<const T*>(data_); }
  const T* end() const { return static_cast<const T*>(data_) + size_; }
  T& operator[](size_t i) { return static_cast<T*>(data_)[i]; }
  const T& operator[](size_t i) const { return static_cast<const T*>(data_)[i]; }
  T& front() { return *begin(); }
  const T& front() const { return *begin(); }
  T& back() { return end()[-1]; }
  const T& back() const { return end()[-1]; }

  T& push_back(T value) { return *new (grown()) T(static_cast<T&&>(value)); }
  T& add() { return *new (grown()) T(); }
  void append(const List& more) {
    if (&more == this) return append(List(more));  // its own memory may move
    append_copies(more.data_, more.size_);
  }
  void append(Items more) { append_copies(more.begin(), more.size()); }
  void erase(T* at) { erase_at(static_cast<size_t>(at - begin())); }
};

template <class T>
bool operator==(const List<T>& a, const List<T>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!(a[i] == b[i])) return false;
  return true;
}
template <class T>
bool operator!=(const List<T>& a, const List<T>& b) {
  return !(a == b);
}

template <class T, class V>
bool contains(const List<T>& list, const V& value) {
  for (const T& element : list)
    if (element == value) return true;
  return false;
}
template <class T>
void add_once(List<T>& list, const T& value) {
  if (!contains(list, value)) list.push_back(value);
}

// By insertion, equal ones keep their order: for lists of tens, where std::sort would be a dozen
// functions more for each type.
template <class T, class Less>
void sort_few(List<T>& list, Less less) {
  for (size_t i = 1; i < list.size(); ++i)
    for (size_t j = i; j > 0 && less(list[j], list[j - 1]); --j) std::swap(list[j], list[j - 1]);
}
template <class T>
bool is_less(const T& a, const T& b) {
  return a < b;
}
template <class T>
void sort_few(List<T>& list) {
  sort_few(list, is_less<T>);
}
// Sorted, each value once.
template <class T>
void sort_unique(List<T>& list) {
  sort_few(list);
  List<T> once;
  for (const T& value : list)
    if (once.empty() || !(once.back() == value)) once.push_back(value);
  list = once;
}
template <class T, class V>
void remove_from(List<T>& list, const V& value) {
  for (size_t i = list.size(); i-- > 0;)
    if (list[i] == value) list.erase(list.begin() + i);
}

template <>
void List<std::string>::append(std::initializer_list<Piece> more);
extern template class List<std::string>;  // compiled once, in list.cpp

}  // namespace tcs
