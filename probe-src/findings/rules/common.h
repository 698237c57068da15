// SPDX-License-Identifier: Apache-2.0
// What the rules share: questions to a RuleInput, and how layers are worded.
#pragma once
#include <string>

#include "base/list.h"
#include "base/text.h"
#include "findings/finding.h"
#include "tables/tables.h"

namespace tcs {

// A finding in the words of table.def, filled with `args`.
Finding& report(List<Finding>& out, int id, std::initializer_list<Piece> args);
Finding& report_words(List<Finding>& out, int id, const List<std::string>& args);
// `fact` (its path in docs/facts.md) is unknown, and so it was not judged `what` ("whether ...").
// Only where it would have decided over a warning or an error. `reason`: why it is unknown.
void missing(List<Finding>& out, int id, const char* fact, const char* what,
             const std::string& reason);
void missing(List<Finding>& out, int id, const char* fact, const char* what);
void word_missing(Finding& f);  // judge: the message and help of what missing() left
// One row of its table; `from` may be empty.
void add(Finding& f, const char* layer, const Piece& has, const Piece& needs, const Piece& from);

// --- the request
bool native_asked(const RuleInput& in);  // targets or list say native, or the purpose is to run
bool list_is_default(const Request& request);  // nothing but Auto and Common: the default targets
bool other_machines(
    const RuleInput& in);          // it names targets or a list, and native is not among them
bool builds(const RuleInput& in);  // something is compiled
// Error for this machine; warning where the request is about others.
Severity here_or_elsewhere(const RuleInput& in);

// For the example of TorchCudaStack_TARGETS: of what was named, else of what this PyTorch has, what
// it serves and this nvcc builds, the newest three, "8.0;8.6;9.0"; empty where there is none.
std::string example_targets(const RuleInput& in);
// How to say so: the option, or the list where that asks for native and counts before the option.
std::string name_targets(const RuleInput& in);

// --- devices
List<const Device*> visible_devices(const Facts& facts);
bool capability(const Device& device, Sm& out);
std::string device_label(const Device& device);  // "NVIDIA H100, compute 9.0"
// A row for each kind of device, "2 x NVIDIA H100, compute 9.0".
void add_devices(Finding& f, const List<const Device*>& devices);

// --- images
List<Image> images_in(const List<std::string>& names);
std::string image_words(List<Image> images);  // sorted, "sm_80 sm_90 compute_90"; "none"
List<Image> plan_images(const Plan& plan);
// What serves `device`: of each image that fits, its own answer where it was tried, else fits().
Fit serves(const List<Image>& images, const Sm& sm, const Device* device);
// What the device answered when `image` was tried on it; null where it was not.
const ImageProbe* answer_to(const Device& device, const Image& image);
// One of them fits by all rules, so that a device which refuses it is at fault: finding 922.
bool should_run(const List<Image>& images, const Sm& sm);
constexpr int kImageDoesNotRun = 922;
// Where none of `images` serves it: its answer to one that fits was this CUresult.
bool answered(const List<Image>& images, const Sm& sm, const Device& device, int code);
// "209 CUDA_ERROR_NO_BINARY_FOR_GPU", "" without a code.
std::string error_words(const ImageProbe& answer);
// "sm_86 was tried on the device, which refused it: 209 CUDA_ERROR_NO_BINARY_FOR_GPU"; empty where
// none of those that fit was refused.
std::string refused_words(const List<Image>& images, const Sm& sm, const Device& device);

// --- wording
// "a, b and c"
std::string in_words(const List<std::string>& parts, const char* last = "and");
// The line of a compiler's output that tells: commands and warnings are around it.
std::string telling(const std::string& text, size_t limit);
std::string torch_label(const Facts& facts);          // "PyTorch 2.3.0+cu121"
std::string python_label(const PythonFacts& python);  // "/usr/bin/python3 3.11 (venv)"
std::string nvcc_label(const Toolkit& toolkit);       // "nvcc 12.4.131"
std::string nvcc_and_root(const Toolkit& toolkit);    // "nvcc 12.4.131 in /usr/local/cuda"
std::string with_path(std::string what, const Text& path);
std::string or_unknown(const Text& text);
bool is_clang(const Toolkit& toolkit);  // clang in nvcc's place
// A row for each variable that adds to every nvcc command.
void add_nvcc_variables(const RuleInput& in, Finding& f);

// --- releases
bool same_release(const Version& a, const Version& b);  // 12.4.131 and 12.4
// The oldest CUDA that a driver must speak to read PTX that `toolkit` writes.
Version ptx_release(const Version& toolkit);
std::string driver_branch_for(const Version& cuda);  // "535" for 12.2, "" when not known

}  // namespace tcs
