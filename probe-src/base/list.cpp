// SPDX-License-Identifier: Apache-2.0
#include "base/list.h"

#include "base/text.h"

namespace tcs {

template <>
void List<std::string>::append(std::initializer_list<Piece> more) {
  for (const Piece& piece : more) push_back(cat(piece));
}
template class List<std::string>;
namespace {

void* element_at(void* data, size_t index, const ListOps* ops) {
  return static_cast<char*>(data) + index * ops->size;
}

}  // namespace

ListBase::ListBase(const ListBase& other) : ListBase(other.ops_) {
  append_copies(other.data_, other.size_);
}

ListBase::ListBase(ListBase&& other) noexcept : ListBase(other.ops_) {
  *this = std::move(other);
}

ListBase& ListBase::operator=(const ListBase& other) {
  if (this == &other) return *this;
  clear();
  append_copies(other.data_, other.size_);
  return *this;
}

ListBase& ListBase::operator=(ListBase&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  return *this;
}

ListBase::~ListBase() {
  clear();
  ::operator delete(data_);
}

void ListBase::clear() {
  ops_->destroy(data_, size_);
  size_ = 0;
}

void ListBase::reserve(size_t n) {
  if (n <= capacity_) return;
  void* larger = ::operator new(n * ops_->size);
  ops_->relocate(larger, data_, size_);
  ::operator delete(data_);
  data_ = larger;
  capacity_ = n;
}

void ListBase::pop_back() {
  erase_at(size_ - 1);
}

void* ListBase::grown() {
  if (size_ == capacity_) reserve(capacity_ == 0 ? 4 : capacity_ * 2);
  return element_at(data_, size_++, ops_);
}

void ListBase::append_copies(const void* from, size_t n) {
  if (size_ + n > capacity_) reserve(size_ + n);
  ops_->copy(element_at(data_, size_, ops_), from, n);
  size_ += n;
}

void ListBase::erase_at(size_t index) {
  ops_->destroy(element_at(data_, index, ops_), 1);
  --size_;
  for (size_t i = index; i < size_; ++i)
    ops_->relocate(element_at(data_, i, ops_), element_at(data_, i + 1, ops_), 1);
}

}  // namespace tcs
