// SPDX-License-Identifier: Apache-2.0
// The table 'availability per architecture' in its three forms.
#include "findings/availability.h"
#include "emit/emit.h"
#include "findings/rules/common.h"

namespace tcs {
namespace {

constexpr size_t kColumns = 6;  // of devices, two a table

const char* result_of(const DeviceAnswer& d) {
  return d.answer ? d.answer->result.value().c_str() : "";
}

// What was not tried is in brackets.
std::string device_cell(const DeviceAnswer& d) {
  struct Row {
    const char *is, *words;
  };
  static constexpr Row kAnswers[] = {{"runs", "runs"},
                                     {"refused", "refused"},
                                     {"wrong", "wrong value"},
                                     {"crash", "crashes"},
                                     {"hang", "hangs"}};
  static constexpr Row kPredicted[] = {{"cubin", "(should run)"},
                                       {"ptx", "(should run, translated)"},
                                       {"cross-tegra", "(may run)"},
                                       {"none", "(not for it)"}};
  for (const Row& row : kAnswers)
    if (d.answer && d.answer->result.is(row.is)) {
      const std::string error = error_words(*d.answer);
      return error.empty() ? row.words : cat(row.words, ": ", error);
    }
  for (const Row& row : kPredicted)
    if (std::string_view(d.predicted) == row.is) return row.words;
  return "(unknown)";
}

std::string nvcc_cell(const Availability& row) {
  if (row.nvcc == "listed") return "(listed)";
  if (row.nvcc == "unlisted") return "(not listed)";
  if (row.nvcc == "wrong") return "wrong image";
  const std::string said = telling(row.nvcc_said, 60);
  return row.nvcc == "refused" && !said.empty() ? cat("refused: ", said) : row.nvcc;
}

std::string torch_cell(const Availability& row) {
  const bool part = row.torch_served < row.torch_all;
  const std::string count = cat(row.torch_served, " of ", row.torch_all);
  if (row.torch == "full") return "in full";
  if (row.torch == "part") return count;
  if (row.torch == "listed") return "yes";
  if (row.torch == "cross-tegra") return cat("across Tegra: ", row.torch_by);
  if (row.torch == "ptx") return row.torch_by.empty() ? "PTX" : cat("by ", row.torch_by);
  if (row.torch == "served") return cat("by ", row.torch_by, part ? cat(", ", count) : "");
  return row.torch;
}

// "0-7", "0, 2"
std::string ranges(const List<int>& numbers) {
  List<std::string> out;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    out.push_back(last == i ? cat(numbers[i]) : cat(numbers[i], "-", numbers[last]));
    i = last + 1;
  }
  return join(out, ", ");
}

// Devices of one name and capability that answered alike.
struct DeviceColumn {
  List<std::string> cells;
  List<int> indices;
};
List<DeviceColumn> columns_of(const List<Availability>& rows) {
  List<DeviceColumn> out;
  for (size_t i = 0; i < rows[0].devices.size(); ++i) {
    DeviceColumn kind{{device_label(*rows[0].devices[i].device)}, {}};
    for (const Availability& row : rows) kind.cells.push_back(device_cell(row.devices[i]));
    DeviceColumn* same = nullptr;
    for (DeviceColumn& other : out)
      if (join(other.cells, "\n") == join(kind.cells, "\n")) same = &other;
    if (!same) same = &out.push_back(kind);
    if (const Fact<int>& index = rows[0].devices[i].device->index; index.known())
      same->indices.push_back(index.value());
  }
  for (DeviceColumn& kind : out) {
    for (std::string& cell : kind.cells)
      if (out.size() > 1) cell = replace_all(cell, "CUDA_ERROR_", "");
    kind.cells[0] = cat(kind.indices.size() > 1    ? "devices "
                        : kind.indices.size() == 1 ? "device "
                                                   : "device",
                        ranges(kind.indices), ": ", kind.cells[0]);
  }
  return out;
}

bool was_measured(const List<Availability>& rows) {
  for (const Availability& row : rows) {
    if (row.nvcc == "built" || row.nvcc == "refused" || row.nvcc == "wrong") return true;
    for (const DeviceAnswer& d : row.devices)
      if (d.answer) return true;
  }
  return false;
}

}  // namespace

std::string availability_text(const Facts& facts, const Plan& plan, Language language) {
  const List<Availability> rows = availability(facts, plan);
  if (!was_measured(rows)) return "";
  List<List<std::string>> table = {{"image", "nvcc", "torch"}};
  for (const Availability& row : rows)
    table.push_back({row.image.str(), nvcc_cell(row), torch_cell(row)});
  const List<DeviceColumn> columns = columns_of(rows);
  const auto line = [&](const std::string& text) { return cat("  ", said(text, language), "\n"); };
  std::string out =
      line("images: what nvcc builds, PyTorch holds and devices run; (in brackets: not tried)");
  out += "  \n";
  for (size_t k = 0; k == 0 || (k < columns.size() && k < kColumns); k += 2) {
    for (size_t i = 0; i < table.size(); ++i) {
      if (k > 0) table[i] = {table[i][0]};
      for (size_t j = k; j < k + 2 && j < columns.size(); ++j)
        table[i].push_back(columns[j].cells[i]);
    }
    out += columns_text(table, language) + "  \n";
  }
  if (columns.empty()) out += line("no GPU is visible: nothing was run");
  if (columns.size() > kColumns)
    out += line(cat("and ", columns.size() - kColumns, " more kinds of devices, in report.json"));
  return out;
}

Json availability_json(const Facts& facts, const Plan& plan) {
  Json out = Json::array();
  for (const Availability& row : availability(facts, plan)) {
    Json devices = Json::array();
    for (const DeviceAnswer& d : row.devices) {
      Json one = Json::object();
      if (d.device->index.known()) one.add("index", d.device->index.value());
      if (d.answer) one.add("result", d.answer->result.value());
      if (d.answer && d.answer->error.known()) {
        const DriverErrorRow* error = driver_error(d.answer->error.value());
        one.add("error", d.answer->error.value());
        if (error) one.add("error_name", error->name);
      }
      if (d.answer && d.answer->step.known()) one.add("step", d.answer->step.value());
      devices.push(one.add("predicted", d.predicted));
    }
    Json one = Json::object();
    one.add("arch", row.image.str()).add("nvcc", row.nvcc);
    if (!row.nvcc_said.empty()) one.add("nvcc_said", row.nvcc_said);
    one.add("torch", row.torch);
    if (!row.torch_by.empty()) one.add("torch_by", row.torch_by);
    if (row.torch_all != 0)
      one.add("torch_served", row.torch_served).add("torch_all", row.torch_all);
    out.push(one.add("devices", std::move(devices)));
  }
  return out;
}

List<std::pair<std::string, std::string>> availability_variables(const Facts& facts,
                                                                 const Plan& plan) {
  List<std::pair<std::string, std::string>> out;
  List<std::string> archs;
  for (const Availability& row : availability(facts, plan)) {
    const std::string prefix = cat("TorchCudaStack_", row.image.str());
    archs.push_back(row.image.str());
    List<std::string> devices;
    for (const DeviceAnswer& d : row.devices)
      devices.push_back(d.answer ? result_of(d) : cat("untried-", d.predicted));
    out.push_back({prefix + "_BUILDS", row.nvcc});
    out.push_back({prefix + "_TORCH", row.torch});
    out.push_back({prefix + "_DEVICES", join(devices, ";")});
  }
  out.push_back({"TorchCudaStack_AVAILABILITY", join(archs, ";")});
  return out;
}

}  // namespace tcs
