// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"

namespace tcs {
namespace {

// Two answers: the CUDA that the driver speaks, and its own release where no digits are missing.
bool below_floor(const DriverFacts& driver, const Version& cuda, const std::string& floor) {
  Version speaks = Version::parse(driver.cuda.value());
  Version release = Version::parse(driver.version.value());
  if (floor.empty())
    return speaks.known() && speaks < cuda;  // before CUDA 11: no relief inside a major
  if (speaks.known() && speaks.major() < cuda.major()) return true;
  return release.numbers.size() > 1 && release < Version::parse(floor) &&
         (!speaks.known() || speaks.major() == cuda.major());
}

}  // namespace

void rule_driver_floor(const RuleInput& in, List<Finding>& out) {
  const DriverFacts& driver = in.facts.driver;
  if (!driver.state.is("ok")) return;
  const bool windows = in.facts.host.os.is("windows") || in.facts.host.wsl.is(true);
  DriverFacts asked = driver;
  if (windows) asked.version = Text();  // the floors are Linux releases
  struct Need {
    const char* layer;
    std::string label;
    Text cuda;
  };
  List<Need> needs;
  if (in.facts.torch.state.is("found"))
    needs.push_back({"torch", torch_label(in.facts), in.facts.torch.cuda});
  if (const Toolkit* toolkit = in.facts.toolkit(); toolkit && builds(in))
    needs.push_back({"toolkit", nvcc_label(*toolkit), toolkit->version});

  Finding* f = nullptr;
  for (const auto& need : needs) {
    Version cuda = Version::parse(need.cuda.value());
    const std::string floor = driver_floor(cuda.major());
    if (!cuda.known() || !below_floor(asked, cuda, floor)) continue;
    if (!f) {
      const std::string release = "one for CUDA " + cuda.major_minor();
      f = &report(
          out, 204,
          {driver.version.or_else("of CUDA " + driver.cuda.value()), std::to_string(cuda.major()),
           need.label, floor.empty() ? release : floor + " or newer",
           builds(in) ? "a PyTorch and a toolkit" : "a PyTorch",
           std::to_string(Version::parse(driver.cuda.value()).major())});
      f->severity = here_or_elsewhere(in);
      add(*f, "driver", cat(or_unknown(driver.version), ", CUDA ", or_unknown(driver.cuda)),
          floor.empty() ? release : ">= " + floor, driver.version.from);
    }
    add(*f, need.layer, cat(need.label, ", CUDA ", need.cuda.value()), "", need.cuda.from);
  }
}

}  // namespace tcs
