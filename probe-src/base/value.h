// SPDX-License-Identifier: Apache-2.0
// Large value types. Without optimisation the compiler writes copying, moving and destruction out
// anew in every translation unit that touches such a type, which was a third of tcstack-core's
// compile time. None of them moves: what is moved is copied, which is half the code and, of values
// that are few, no time.
#pragma once

// In the class, where it is an aggregate that one file or two handle.
#define TCS_COPIED(Type)       \
  Type() = default;            \
  Type(const Type&) = default; \
  Type& operator=(const Type&) = default

// In the class, which is no aggregate then: what is copied in many files is compiled once...
#define TCS_VALUE(Type)         \
  Type();                       \
  Type(const Type&);            \
  Type& operator=(const Type&); \
  ~Type()

// ... in one source file.
#define TCS_DEFINE_VALUE(Type)                  \
  Type::Type() = default;                       \
  Type::Type(const Type&) = default;            \
  Type& Type::operator=(const Type&) = default; \
  Type::~Type() = default
