// SPDX-License-Identifier: Apache-2.0
// What following the help lines of findings/table/host_compiler.def does.
#include "base/text.h"
#include "remedy.h"

namespace tcs::remedies {
namespace {

using W = const Words&;

// "...: -DCMAKE_CUDA_HOST_COMPILER=g++-13 (outside ...", or a toolset of Visual Studio.
void name_3(Machine& m, W w) {
  const size_t at = w[3].find("HOST_COMPILER=");
  if (at != std::string::npos)
    return name_compiler(m, w[3].substr(at + 14, w[3].find(' ', at) - at - 14));
  m.facts.host_compiler.version = Text(w[3].substr(w[3].find("14."), 5));
}

void name_any(Machine& m, W) {
  for (Toolkit& t : m.facts.toolkits.list) {
    t.works = true;
    t.failure = ToolkitFailure();
  }
}

void other_system(Machine& m, W w) {
  if (contains(w[3], "distribution's own"))
    name_any(m, w);
  else
    m.facts.host.glibc = "2.35";
}

// It calls the g++ that is on PATH, of which nothing is known.
void name_nvcc(Machine& m, W) {
  m.facts.host_compiler = HostCompiler();
  install_toolkit(m, m.facts.torch.cuda.or_else("12.4"));
}

void gcc_and_toolkit(Machine& m, W w) {
  install_toolkit(m, m.facts.driver.cuda.or_else("12.9"));
  name_compiler(m, "g++-" + w[1]);
}

void learn(Machine& m, W w) {
  m.forgot = true;
  if (!m.facts.host.glibc.known()) m.facts.host.glibc = "2.35";
  if (!m.facts.host.arch.known()) m.facts.host.arch = "x86_64";
  name_compiler(m, "g++-11");
  name_any(m, w);
}

}  // namespace

Effects host_compiler_effects() {
  return {
      {401, "{3}", Way::Mends, name_3},
      {401, "use the toolkit", Way::Mends, take_toolkit},
      {401, "install CUDA", Way::Mends, take_toolkit},
      {402, "{3}", Way::Mends, name_3},
      {402, "name another host compiler: ", Way::Mends, name_any},
      {403, "name another", Way::Mends, [](Machine& m, W w) { name_compiler(m, w[4]); }},
      {403, "{3}", Way::Mends, other_system},
      {403, "use the toolkit", Way::Mends, take_toolkit},
      {403, "install CUDA", Way::Mends, take_toolkit},
      {404, "name the nvcc that is here", Way::Mends,
       [](Machine& m, W w) { select_toolkit(m, w[8]); }},
      {404, "name nvcc", Way::Mends, name_nvcc},
      {404, "clang may be", Way::Looks, nullptr},
      {405, "name a newer one", Way::Mends, [](Machine& m, W w) { name_compiler(m, w[3]); }},
      {411, "name a newer one", Way::Mends, [](Machine& m, W w) { name_compiler(m, w[3]); }},
      {411, "install GCC", Way::Mends, gcc_and_toolkit},
      {490, "name it", Way::Mends, learn},
  };
}

}  // namespace tcs::remedies
