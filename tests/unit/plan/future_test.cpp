// SPDX-License-Identifier: Apache-2.0
// Capabilities that no table has, as devices and as targets: planned by rule for every nvcc.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "machine.h"
#include "tables/tables.h"

using namespace tcs;
using Kind = PlanIssue::Kind;

namespace {

// Of what this release builds: the nearest older code that runs there, else the newest PTX.
std::string expected(int release, const Sm& device) {
  Sm code, ptx;
  for (const ArchRow& row : arch_rows()) {
    if (!row.sm.plain() || !row.built_by(release)) continue;
    if (fits({row.sm, false}, device) == Fit::Native) code = row.sm;
    if (fits({row.sm, true}, device) == Fit::Jit) ptx = row.sm;
  }
  if (code.major != 0) return code.digits() + ":" + code.digits();
  return ptx.major != 0 ? ptx.digits() + ":ptx" : "";
}

template <class F>
void each_capability(const F& f) {
  for (int major = 2; major <= 16; ++major)
    for (int minor = 0; minor <= 9; ++minor) f(Sm{major, minor, 0});
}

}  // namespace

TEST_CASE("a device of any capability gets the nearest code of its major, else the newest PTX") {
  for (const CudaRow& cuda : cuda_rows()) {
    Sm oldest;
    for (const ArchRow& row : arch_rows())
      if (oldest.major == 0 && row.built_by(cuda.release)) oldest = row.sm;
    each_capability([&](const Sm& sm) {
      INFO(release_text(cuda.release) << " " << sm.dotted());
      Facts facts = with_nvcc_release(release_text(cuda.release));
      add_device(facts, sm.dotted());
      for (const Request& request : {Request(), target_request({"native"})}) {
        const Plan plan = make_plan(facts, request);
        CHECK(shown(plan) == expected(cuda.release, sm));
        CHECK(plan.gencodes.empty() == (sm < oldest));
        for (const Gencode& g : plan.gencodes) CHECK(fits(g.image(), sm) <= Fit::Jit);
        const ArchRow* row = find_arch(sm);
        const bool own = row != nullptr && row->built_by(cuda.release);
        CHECK((issue_of(plan, Kind::NearestArch) != nullptr) == (!own && !plan.gencodes.empty()));
        CHECK((issue_of(plan, Kind::NoArch) != nullptr) == plan.gencodes.empty());
        CHECK(issue_of(plan, Kind::Nonsense) == nullptr);
      }
    });
  }
}

TEST_CASE("a target of a capability that may come is planned as a device of it would be") {
  for (const char* version : {"11.8", "12.4", "12.8", "12.9", "13.0", "13.5"}) {
    each_capability([&](const Sm& sm) {
      INFO(version << " " << sm.dotted());
      const Facts facts = with_nvcc_release(version);
      Facts here = facts;
      add_device(here, sm.dotted());
      const Plan plan = make_plan(facts, target_request({sm.dotted()}));
      const bool possible = find_arch(sm) != nullptr || (sm.major >= 10 && sm.major <= 15);
      const bool own_release = sm.dotted() == version && sm.major <= 12 && !find_arch(sm);
      if (possible && !own_release) {
        CHECK(shown(plan) == shown(make_plan(here, target_request({"native"}))));
        CHECK(plan.targets.size() == 1);
        CHECK(issue_of(plan, Kind::Nonsense) == nullptr);
      } else {
        CHECK(plan.gencodes.empty());
        CHECK(plan.targets.empty());
        CHECK(issue_of(plan, Kind::Nonsense) != nullptr);
      }
    });
  }
}

TEST_CASE(
    "a CUDA release that this machine has is no target, and another is a capability to come") {
  Facts facts = with_nvcc("13.5.37", kNvcc135);
  CHECK(shown(make_plan(facts, target_request({"12.4"}))) == "121:121");
  CHECK(shown(make_plan(facts, target_request({"13.5"}))) == "121:ptx");
  CHECK(contains(make_plan(facts, target_request({"13.5"})).targets[0].label,
                 "; also the CUDA here)"));
  CHECK_FALSE(contains(make_plan(facts, target_request({"13.4"})).targets[0].label, "also"));
  CHECK(shown(make_plan(facts, target_request({"10.9"}))) == "107:107");
  CHECK(shown(make_plan(facts, target_request({"14.2"}))) == "121:ptx");
  Facts torch = facts, driver = facts;
  torch.torch.cuda = Text("12.4");
  driver.driver.cuda = Text("12.4");
  for (const Facts& f : {torch, driver, with_nvcc("12.4.131", kNvcc124)}) {
    const Plan plan = make_plan(f, target_request({"12.4"}));
    CHECK(plan.gencodes.empty());
    CHECK(issue_of(plan, Kind::Nonsense)->detail ==
          "12.4 is a CUDA release, not a compute capability");
  }
  for (const char* text : {"99.9", "2.1", "9.5", "16.0"})
    CHECK(issue_of(make_plan(facts, target_request({text})), Kind::Nonsense) != nullptr);
}

TEST_CASE("where nvcc says what it builds its own list decides, whatever the tables know") {
  const Facts facts = with_nvcc("14.0.20", "90 100 120 130 142");
  CHECK(shown(make_plan(facts, target_request({"13.0"}))) == "130:130");
  CHECK(shown(make_plan(facts, target_request({"13.1"}))) == "130:130");
  CHECK(shown(make_plan(facts, target_request({"14.2"}))) == "142:142");
  CHECK(shown(make_plan(facts, target_request({"15.0"}))) == "142:ptx");
  Facts here = facts;
  add_device(here, "17.0");
  CHECK(shown(make_plan(here, Request())) == "142:ptx");
}
