// SPDX-License-Identifier: Apache-2.0
#include "facts/gather.h"

#include "facts/driver.h"
#include "facts/facts_io.h"
#include "facts/library_images.h"

namespace tcs {

TCS_DEFINE_VALUE(Facts);
TCS_DEFINE_VALUE(Request);

Fact<std::string>::Fact(const std::string& value) : value_(value), known_(true) {}
Fact<std::string>::Fact(const char* value) : value_(value), known_(true) {}
Fact<std::string>::Fact(const Piece& value, const Piece& origin)
    : from(origin.view()), value_(value.view()), known_(true) {}
std::string Fact<std::string>::or_else(const Piece& fallback) const {
  return known_ ? value_ : std::string(fallback.view());
}
bool Fact<std::string>::is(const char* v) const {
  return known_ && value_ == v;
}
bool Fact<std::string>::is(const std::string& v) const {
  return known_ && value_ == v;
}

Facts gather_all(Host& host, const Inputs& in) {
  DriverChild child;
  return gather_all(host, in, child);
}

Facts gather_all(Host& host, const Inputs& in, DriverChild& child) {
  child = start_driver(host, in);
  Facts facts;
  gather_host(host, facts);
  gather_python(host, in, facts);
  gather_torch(host, in, facts);
  gather_tree(host, in, facts);
  gather_library_images(host, in, facts);
  gather_driver(host, in, child, facts);
  gather_toolkits(host, in, facts);
  gather_nvml(in, child, facts);
  order_facts(facts);
  return facts;
}

}  // namespace tcs
