// SPDX-License-Identifier: Apache-2.0
#include "facts/gather.h"

#include "facts/driver.h"
#include "facts/facts_io.h"
#include "facts/library_images.h"

namespace tcs {

TCS_DEFINE_VALUE(Facts);
TCS_DEFINE_VALUE(Request);

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
  gather_library_images(host, in, facts);
  gather_driver(host, in, child, facts);
  gather_toolkits(host, in, facts);
  gather_nvml(in, child, facts);
  order_facts(facts);
  return facts;
}

}  // namespace tcs
