// SPDX-License-Identifier: Apache-2.0
// Prints what gather_driver learns of this machine; runs itself as the child, as tcstack does.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts/driver.h"
#include "facts/facts_io.h"
#include "facts/gather.h"
#include "probes/driver.h"
#include "probes/nvml.h"

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "--driver-probe") == 0) return driver_probe_main();
  if (argc > 1 && strcmp(argv[1], "--nvml-probe") == 0) return nvml_probe_main();
  tcs::Inputs in;
  if (argc > 1) in.timeout_ms = atoi(argv[1]);
  std::unique_ptr<tcs::Host> host = tcs::make_real_host();
  tcs::Facts facts;
  tcs::DriverChild child = tcs::start_driver(*host, in);
  tcs::gather_host(*host, facts);
  tcs::gather_driver(*host, in, child, facts);
  tcs::gather_nvml(in, child, facts);
  puts(tcs::write_json(tcs::facts_to_json(facts)).c_str());
}
