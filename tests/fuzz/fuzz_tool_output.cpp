// SPDX-License-Identifier: Apache-2.0
// The same text as the answer of every tool and the content of every file that is read as text:
// whatever is learnt from it, the recording of it can be read again.
#include "facts/driver.h"
#include "facts/facts_io.h"
#include "facts/host_compiler.h"
#include "facts/python_env.h"
#include "facts/toolkit_parts.h"
#include "facts/torch_files.h"
#include "fuzz.h"
#include "memory_host.h"

using namespace tcs;

static void read_pure(const std::string& text, Toolkit& toolkit) {
  Sm sm;
  toolkit.version = Text(parse_release(text));
  List<std::string> archs;
  for (const Sm& listed : parse_gpu_list(text)) archs.push_back(listed.real());
  if (parse_refused_arch(text, sm)) archs.push_back(sm.virt());
  toolkit.archs = Names(archs);
  cuda_of_local_version(text);
  fuzz::require(standard_of_guard(text) >= 0, "a standard");
  for (const Outcome& outcome : {MemoryHost::exits(1, text), MemoryHost::exits(2, "", text)})
    toolkit.failure = {Text(failure_kind(outcome)), Text(telling_lines(outcome))};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  MemoryHost host;
  for (const char* path : {"/etc/os-release",
                           "/etc/nv_tegra_release",
                           "/proc/driver/nvidia/version",
                           "/v/pyvenv.cfg",
                           "/proc/1/cgroup",
                           "/proc/self/mountinfo",
                           "/run/systemd/container",
                           "/etc/ld.so.conf.d/a.conf",
                           "/sys/bus/pci/devices/0000:01:00.0/vendor",
                           "/usr/lib/libcuda.so.1",
                           "/usr/include/python3.11/patchlevel.h",
                           "/usr/lib/python3.11/os.py",
                           "/s/torch/version.py",
                           "/s/torch/build-version",
                           "/s/torch-2.dist-info/METADATA",
                           "/s/more.pth",
                           "/s/torch/share/cmake/Torch/TorchConfig.cmake",
                           "/cuda/include/crt/host_config.h",
                           "/cuda/include/cuda.h",
                           "/s/torch/share/cmake/Torch/TorchConfigVersion.cmake"})
    host.files[path] = text;
  host.program("/usr/bin/python3.11",
               "\x7f"
               "ELF");
  host.links["/v/bin/python"] = "/usr/bin/python3.11";
  host.on_run = [&](const Command&) { return MemoryHost::exits(0, text); };
  Facts facts;
  gather_host(host, facts);
  learn_driver(host, MemoryHost::exits(0, text), facts);
  learn_nvml(MemoryHost::exits(0, text), facts);
  python_from_layout(host, "/v/bin/python", facts.python);
  python_from_child(host, "/v/bin/python", 1000, facts.python);
  facts.python.search_path.push_back("/s");
  gather_torch(host, {}, facts);
  Toolkit& toolkit = facts.toolkits.list.add();
  const DryRun dry = parse_dry_run(text);
  place_toolkit(host, "/cuda/bin/nvcc", dry, toolkit);
  find_parts(host, dry, toolkit);
  read_pure(text, toolkit);
  read_macros(MemoryHost::exits(0, text), "/usr/bin/g++", facts.host_compiler);
  facts.toolkits.list_known = true;
  List<std::string> unknown;
  Result<Facts> again = read_facts(write_json(facts_to_json(facts)), unknown);
  fuzz::require(bool(again), "the recording is read again", again ? "" : again.error().str());
  return 0;
}
