// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "emit/emit.h"
#include "facts/devices.h"

namespace tcs {
namespace {

std::string archs(const Facts& facts, const Plan& plan) {
  List<std::string> words;
  for (const auto& g : plan.gencodes) {
    if (!g.ptx && g.virt != g.real)
      words.push_back(cat(g.real.dotted(), "(", g.virt.dotted(), ")"));
    else if (!g.ptx)
      words.push_back(g.real.dotted());
    else if (!words.empty() && words.back() == g.virt.dotted())
      words.back() += "+PTX";
    else
      words.push_back(g.virt.dotted() + " PTX");
  }
  int visible = 0;
  for (const auto& device : facts.devices.list) visible += is_in_use(device);
  std::string out = words.empty()
                        ? std::string(plan.complete ? "no architecture" : "architectures unknown")
                        : join(words, " ");
  if (visible) return cat(out, " on ", visible, visible == 1 ? " device" : " devices");
  for (const auto& issue : plan.issues)
    if (issue.kind == PlanIssue::Kind::DefaultTargets) return out + " (as PyTorch has)";
  return out;
}

std::string driver(const Facts& facts) {
  const DriverFacts& d = facts.driver;
  if (!d.state.known()) return "driver unknown";
  if (!d.state.is("ok"))
    return d.state.is("absent") ? "no driver" : cat("driver ", d.state.value());
  const Version has = Version::parse(d.cuda.value());
  std::string out = cat("driver ", d.version.or_else("of unknown release"));
  if (has.known()) out += cat(" (CUDA ", has.major_minor(), ")");
  return out;
}

std::string toolkit(const Facts& facts) {
  const Toolkit* t = facts.toolkit();
  if (t) return cat("nvcc ", t->version.or_else("of unknown release"));
  return facts.toolkits.list_known && facts.toolkits.list.empty() ? "no nvcc" : "nvcc unknown";
}

std::string torch(const Facts& facts) {
  const TorchFacts& t = facts.torch;
  if (t.state.is("absent")) return "no torch";
  return t.state.is("found") ? cat("torch ", t.version.or_else("of unknown release"))
                             : cat("torch ", t.state.or_else("unknown"));
}

}  // namespace

std::string summary_line(const Report& report, const Facts& facts, const Plan& plan,
                         Language language) {
  std::string out = "TorchCudaStack: ";
  const char* between = "";
  for (const std::string& part :
       {archs(facts, plan), driver(facts), toolkit(facts), torch(facts)}) {
    out += cat(between, said(part, language));
    between = "; ";
  }
  out += cat(" - ", said(report.outcome == "warn" ? "warning" : report.outcome, language));
  if (!report.complete) out += cat(", ", said("not all of it checked", language));
  return out;
}

}  // namespace tcs
