// SPDX-License-Identifier: Apache-2.0
// `tcstack tables`: what the tables hold, as the .def files have it. A row is kept as its text,
// which costs a compiler next to nothing, and read when it is asked for.
#include "tables/tables.h"

#include "base/json.h"
#include "base/text.h"
#include "emit/emit.h"
#include "tool/verbs.h"

namespace tcs {
namespace {

// `columns`: names, and after ':' how their arguments are shown: 2 or 3 of them make a capability
// (8, 9, 'a'), r is a release (1208 = 12.8); 0 and "" = none or not known.
struct Table {
  const char *name, *use, *sources, *columns, *rows;
};

#define TCS_ROW(...) #__VA_ARGS__ "\n"
constexpr Table kTables[] = {
    {
        "gpus",
        "capability of a GPU's name, for targets",
        "NVIDIA/open-gpu-kernel-modules README, pci.ids, NVIDIA's pages of compute capabilities",
        "name capability:2",
#define TCS_GPU(...) TCS_ROW(__VA_ARGS__)
#include "tables/gpus.def"
#undef TCS_GPU
    },
    {
        "archs",
        "which CUDA builds an architecture, which PyTorch's parser reads it",
        "ptxas --help of 11.7 to 13.5; CMake, meson and nixpkgs before; torch's wheels",
        "arch:3 first:r last:r tegra family torch_first:r torch_last:r",
#define TCS_ARCH(...) TCS_ROW(__VA_ARGS__)
#include "tables/architectures.def"
#undef TCS_ARCH
    },
    {
        "arch-names",
        "what the names in an architecture list stand for",
        "torch.utils.cpp_extension of the wheels 2.7 and 2.15",
        "name archs ptx cuda_first:r cuda_last:r",
#define TCS_TORCH_NAME(...) TCS_ROW(__VA_ARGS__)
#include "tables/torch_names.def"
#undef TCS_TORCH_NAME
    },
    {
        "cuda",
        "PTX that each CUDA writes",
        "nvcc 11.7 to 13.5; NVIDIA/cuda-python before",
        "cuda:2 ptx:r",
#define TCS_CUDA(...) TCS_ROW(__VA_ARGS__)
#include "tables/cuda_releases.def"
    },
    {
        "toolkits",
        "each CUDA toolkit and its drivers",
        "NVIDIA's CUDA archive, release notes as meson copies them, spack, nvcc",
        "version date nvcc driver_linux driver_windows bundled default_arch",
#define TCS_CUDA_TOOLKIT(...) TCS_ROW(__VA_ARGS__)
#include "tables/cuda_toolkits.def"
    },
    {
        "drivers",
        "CUDA that a driver branch speaks",
        "drivers bundled with the toolkits",
        "branch cuda:r",
#define TCS_DRIVER_BRANCH(...) TCS_ROW(__VA_ARGS__)
#include "tables/cuda_releases.def"
    },
    {
        "driver-floors",
        "oldest driver of a CUDA major",
        "NVIDIA's CUDA compatibility guide",
        "cuda linux windows older_builds",
#define TCS_DRIVER_FLOOR(...) TCS_ROW(__VA_ARGS__)
#include "tables/cuda_releases.def"
    },
    {
        "ptx",
        "first CUDA that reads a PTX version",
        "NVIDIA/cuda-python; nvcc from 11.7 on",
        "ptx:r cuda:r",
#define TCS_PTX(...) TCS_ROW(__VA_ARGS__)
#include "tables/ptx.def"
#undef TCS_PTX
    },
    {
        "torch",
        "PyTorch's own builds",
        "pytorch/builder, pytorch/pytorch .ci, the wheels themselves",
        "version index cuda:r on_pypi x86_64 aarch64 python_first:r python_last:r cudnn abi",
#define TCS_TORCH(...) TCS_ROW(__VA_ARGS__)
#include "tables/torch_releases.def"
    },
    {
        "toolkit-wheels",
        "what nvcc on PyPI is made of",
        "PyPI: what cuda-toolkit pins, and the index's digests",
        "cuda package version x86_64 aarch64",
#define TCS_WHEEL(...) TCS_ROW(__VA_ARGS__)
#include "tables/toolkit_wheels.def"
    },
    {
        "host-compilers",
        "newest host compiler of each CUDA",
        "crt/host_config.h of 11.7 to 13.5; spack and nixpkgs before",
        "cuda gcc_min gcc clang msvc_min msvc",
#define TCS_HOST_LIMIT(...) TCS_ROW(__VA_ARGS__)
#include "tables/host_compilers.def"
    },
    {
        "known-bad",
        "pairs of CUDA and compiler that fail all the same",
        "issues of the projects that met them",
        "cuda_from cuda_to compiler from to machine symptom help",
#define TCS_KNOWN_BAD(...) TCS_ROW(__VA_ARGS__)
#include "tables/host_compilers.def"
    },
    {
        "driver-errors",
        "what a driver's answer means",
        "names: cuda.h and driver_types.h 13.5",
        "code finding name meaning help",
#define TCS_DRIVER_ERROR(...) TCS_ROW(__VA_ARGS__)
#include "tables/driver_errors.def"
    },
    {
        "jetpack",
        "what a Jetson's driver speaks",
        "dusty-nv/jetson-containers; NVIDIA's pages",
        "l4t jetpack cuda:r boards compat:r",
#define TCS_JETPACK(...) TCS_ROW(__VA_ARGS__)
#include "tables/jetpack.def"
#undef TCS_JETPACK
    },
};

// The arguments of a row: "RTX \"A\"", 8, 'a'.
List<std::string> arguments(const std::string& row) {
  List<std::string> out;
  out.add();
  char quote = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    const char c = row[i];
    if (quote != 0 ? c == quote : c == '"' || c == '\'')
      quote = quote != 0 ? 0 : c;
    else if (quote == 0 && c == ',')
      out.add();
    else if (quote != 0 || c != ' ')
      out.back() += c == '\\' ? row[++i] : c;
  }
  return out;
}

// As they are shown, one for each column.
List<std::string> cells(const List<std::string>& columns, const std::string& row) {
  List<std::string> out;
  const List<std::string> words = arguments(row);
  size_t at = 0;
  for (const std::string& column : columns) {
    std::string cell = words[at++];
    if (ends_with(column, ":2") || ends_with(column, ":3")) cell += "." + words[at++];
    if (ends_with(column, ":3") && words[at++] != "0") cell += words[at - 1];
    uint64_t release = 0;
    if (ends_with(column, ":r") && parse_number(cell, 9999, release))
      cell = release_text(static_cast<int>(release));
    out.push_back(cell);
  }
  return out;
}

// The rows that hold each of the words, below their columns' names.
List<List<std::string>> rows_of(const Table& table, const List<std::string>& words) {
  List<List<std::string>> out;
  const List<std::string> columns = split(table.columns, " ");
  List<std::string>& names = out.add();
  for (const std::string& column : columns) names.push_back(column.substr(0, column.find(':')));
  for (const std::string& line : split(table.rows, "\n")) {
    const List<std::string> row = cells(columns, line);
    bool wanted = true;
    for (const std::string& word : words)
      wanted = wanted && contains(lower(join(row, " ")), lower(word));
    if (wanted) out.push_back(row);
  }
  return out;
}

Json as_json(const Table& table, const List<List<std::string>>& rows) {
  Json list = Json::array();
  for (size_t r = 1; r < rows.size(); ++r) {
    Json row = Json::object();
    for (size_t i = 0; i < rows[r].size(); ++i)
      row.add(rows[0][i], rows[r][i].empty() ? Json() : Json(rows[r][i]));
    list.push(std::move(row));
  }
  Json out = Json::object();
  out.add("name", table.name).add("use", table.use).add("sources", table.sources);
  return out.add("rows", std::move(list));
}

}  // namespace

int verb_tables(Host&, const List<std::string>& args) {
  Options options;
  int status = 0;
  if (!parse_options(args, {{"--json", nullptr, "print JSON", false}},
                     "tcstack tables [--json] [NAME [WORD...]]", options, status))
    return status;
  List<std::string> words = options.words, names;
  const std::string asked = words.empty() ? "" : words[0];
  if (!words.empty()) words.erase(words.begin());
  Json tables = Json::array();
  List<List<std::string>> list = {{"table", "rows", "for", "sources"}};
  for (const Table& table : kTables) {
    names.push_back(table.name);
    if (!asked.empty() && asked != table.name) continue;
    const List<List<std::string>> rows = rows_of(table, words);
    tables.push(as_json(table, rows));
    if (!asked.empty())
      list = rows;
    else
      list.push_back({table.name, cat(rows.size() - 1), table.use, table.sources});
  }
  if (tables.items.empty()) {
    print_err(cat("tcstack: there is no table ", tail(asked, 60), did_you_mean(asked, names),
                  "; `tcstack tables` lists them\n"));
    return 2;
  }
  if (list.size() == 1 && !options.has("--json")) {
    print_err(cat("tcstack: no row of ", asked, " holds ", tail(join(words, " "), 60), "\n"));
    return 1;
  }
  Json out = Json::object();
  out.add("schema", "torch-cuda-stack/tables/1").add("date", kTablesDate);
  out.add("tables", std::move(tables));
  const std::string text =
      columns_text(list) + (asked.empty() ? cat("\nas of ", kTablesDate, "\n") : "");
  return print_out(options.has("--json") ? write_json(out) + "\n" : text) ? 0 : 3;
}

}  // namespace tcs
