// SPDX-License-Identifier: Apache-2.0
#include "findings/rules/common.h"

namespace tcs {
namespace {

// Two answers: the CUDA that the driver speaks, and its own release where no digits are missing.
bool below(const DriverFacts& driver, const Version& cuda, const std::string& floor) {
  Version speaks = Version::parse(driver.cuda.value());
  Version release = Version::parse(driver.version.value());
  if (floor.empty())
    return speaks.known() && speaks < cuda;  // before CUDA 11: no relief inside a major
  if (speaks.known() && speaks.major() < cuda.major()) return true;
  return release.numbers.size() > 1 && release < Version::parse(floor) &&
         (!speaks.known() || speaks.major() == cuda.major());
}

}  // namespace

void rule_driver_floor(const RuleInput& in, std::vector<Finding>& out) {
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
  std::vector<Need> needs;
  if (in.facts.torch.state.is("found"))
    needs.push_back({"torch", torch_label(in.facts), in.facts.torch.cuda});
  if (const Toolkit* toolkit = in.facts.toolkit(); toolkit && builds(in))
    needs.push_back({"toolkit", nvcc_label(*toolkit), toolkit->version});

  Finding* f = nullptr;
  for (const auto& need : needs) {
    Version cuda = Version::parse(need.cuda.value());
    std::string floor = driver_floor(cuda.major());
    if (!cuda.known() || !below(asked, cuda, floor)) continue;
    std::string wanted =
        floor.empty() ? cat("a CUDA ", cuda.major_minor(), " driver") : cat(">= ", floor);
    if (!f) {
      f = &report(out, 204,
                  cat("driver ", driver.version.or_else(cat("of CUDA ", driver.cuda.value())),
                      " is too old for CUDA ", cuda.major(), ", which ", need.label, " uses"));
      f->severity = here_or_elsewhere(in);
      f->evidence.push_back(row("driver",
                                cat(or_unknown(driver.version), ", CUDA ", or_unknown(driver.cuda)),
                                wanted, driver.version.from, "driver"));
      f->help.push_back(cat("update the driver to ", floor.empty()
                                                         ? cat("one for CUDA ", cuda.major_minor())
                                                         : cat(floor, " or newer")));
      f->help.push_back(cat("or take a PyTorch", builds(in) ? " and a toolkit" : "", " of CUDA ",
                            Version::parse(driver.cuda.value()).major(),
                            ", which this driver runs"));
      f->help.push_back("on data-centre GPUs the cuda-compat package of that CUDA also serves");
    }
    f->evidence.push_back(row(need.layer, cat(need.label, ", CUDA ", need.cuda.value()), "",
                              need.cuda.from, need.layer));
  }
}

}  // namespace tcs
