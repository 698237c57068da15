// SPDX-License-Identifier: Apache-2.0
// Large value types whose copying, moving and destruction are compiled once: without optimisation
// the compiler writes those out anew in every translation unit that touches such a type, which was
// a third of tcstack-core's compile time.
#pragma once

// In the class, which is no aggregate then...
#define TCS_VALUE(Type)             \
  Type();                           \
  Type(const Type&);                \
  Type(Type&&) noexcept;            \
  Type& operator=(const Type&);     \
  Type& operator=(Type&&) noexcept; \
  ~Type()

// ... and in one source file.
#define TCS_DEFINE_VALUE(Type)                      \
  Type::Type() = default;                           \
  Type::Type(const Type&) = default;                \
  Type::Type(Type&&) noexcept = default;            \
  Type& Type::operator=(const Type&) = default;     \
  Type& Type::operator=(Type&&) noexcept = default; \
  Type::~Type() = default
