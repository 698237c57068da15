// SPDX-License-Identifier: Apache-2.0
// The plan in the words of each consumer. What was read in their parsers is said where it counts;
// tests/differential holds each dialect against the real parsers.
#include "base/text.h"
#include "plan/plan.h"
#include "tables/tables.h"

namespace tcs {

namespace {

// How one consumer writes an entry; "" = it cannot.
struct Words {
  std::string cubin, ptx, both;
};

const Gencode* find(const Plan& plan, const Sm& virt, const Sm& real, bool ptx) {
  for (const Gencode& g : plan.gencodes) {
    if (g.virt == virt && g.ptx == ptx && (ptx || g.real == real)) return &g;
  }
  return nullptr;
}

template <class Say>
Dialect translate(const Plan& plan, Say say) {
  Dialect out;
  List<std::string> tokens;
  auto leave_out = [&](const Gencode& g) { out.left_out.push_back(g.flag()); };
  for (const Gencode& g : plan.gencodes) {
    bool own = g.virt == g.real;  // only such an entry can carry its PTX with it
    Words words = say(g);
    const Gencode* pair = own ? find(plan, g.virt, g.real, !g.ptx) : nullptr;
    bool together = pair != nullptr && !words.both.empty();
    std::string token = together ? (g.ptx ? "" : words.both) : (g.ptx ? words.ptx : words.cubin);
    if (!token.empty()) {
      tokens.push_back(token);
    } else if (!together) {
      leave_out(g);
    }
  }
  out.text = join(tokens, ";");
  out.complete = out.left_out.empty();
  return out;
}

int torch_release(const Plan& plan) {
  int release = release_of(Version::parse(plan.torch_version));
  return release != 0 ? release : newest_torch();
}

// select_compute_arch.cmake: one-digit majors without suffix in the wheels 1.13.1 and 2.3.0, any
// major and 'a' in 2.7.1, 'f' too in 2.11.0.
bool torch_cmake_reads(const Sm& sm, int torch) {
  if (sm.suffix == 'f') return torch >= 211;
  return torch >= 207 || (sm.plain() && sm.major <= 9);
}

}  // namespace

std::string Gencode::flag() const {
  return cat("-gencode=arch=", virt.virt(), ",code=", ptx ? virt.virt() : real.real());
}

List<std::string> gencode_flags(const Plan& plan) {
  List<std::string> flags;
  for (const Gencode& g : plan.gencodes) flags.push_back(g.flag());
  return flags;
}

// It has no word for PTX alone, and 8.6(8.0)+PTX would add compute_86 as well.
Dialect torch_list(const Plan& plan) {
  int torch = torch_release(plan);
  return translate(plan, [torch](const Gencode& g) {
    Words words;
    if (!torch_cmake_reads(g.real, torch) || !torch_cmake_reads(g.virt, torch)) return words;
    if (g.virt == g.real) {
      words.cubin = g.virt.dotted();
      words.both = words.cubin + "+PTX";
    } else if (g.virt.plain() && g.real.plain()) {
      words.cubin = cat(g.real.dotted(), "(", g.virt.dotted(), ")");
    }
    return words;
  });
}

Dialect torch_python_list(const Plan& plan) {
  int torch = torch_release(plan);
  return translate(plan, [torch](const Gencode& g) {
    const ArchRow* row = find_arch(g.virt);
    Words words;
    if (g.virt != g.real || row == nullptr || !row->known_to_torch(torch)) return words;
    words.cubin = g.virt.dotted();
    words.both = words.cubin + "+PTX";
    return words;
  });
}

Dialect cmake_architectures(const Plan& plan) {
  return translate(plan, [](const Gencode& g) {
    Words words;
    if (g.virt != g.real) return words;
    words.cubin = g.virt.digits() + "-real";
    words.ptx = g.virt.digits() + "-virtual";
    return words;
  });
}

}  // namespace tcs
