// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "emit/emit.h"
#include "findings/availability.h"

namespace tcs {
namespace {

Json strings(const List<std::string>& values) {
  Json out = Json::array();
  for (const auto& v : values) out.push(v);
  return out;
}

Json dialect_json(const Dialect& dialect) {
  Json out = Json::object();
  out.add("text", dialect.text)
      .add("complete", dialect.complete)
      .add("left_out", strings(dialect.left_out));
  return out;
}

Json finding_json(const Finding& finding) {
  Json evidence = Json::array();
  for (const auto& e : finding.evidence) {
    Json row = Json::object();
    row.add("layer", e.layer).add("has", e.has);
    if (!e.needs.empty()) row.add("needs", e.needs);
    evidence.push(row.add("from", e.from));
  }
  Json out = Json::object();
  out.add("id", finding.code()).add("slug", finding.slug).add("layer", name_of(finding.layer));
  out.add("severity", name_of(finding.severity)).add("message", finding.message);
  out.add("evidence", std::move(evidence))
      .add("notes", strings(finding.notes))
      .add("help", strings(finding.help));
  if (!finding.missing.empty()) out.add("missing", strings(finding.missing));
  if (!finding.consequences.empty()) out.add("consequences", strings(finding.consequences));
  return out;
}

// What PyTorch and the plan hold for each target.
Json coverage_json(const Facts& facts, const Plan& plan) {
  List<Image> torch, built;
  Image image;
  for (const auto& name : facts.torch.images.value())
    if (parse_image(name, image)) torch.push_back(image);
  for (const auto& gencode : plan.gencodes) built.push_back(gencode.image());
  Json out = Json::array();
  for (const auto& target : plan.targets) {
    Json row = Json::object();
    row.add("target", target.sm.dotted()).add("label", target.label);
    row.add("torch", facts.torch.images.known() ? name_of(best_fit(torch, target.sm)) : "unknown");
    row.add("plan",
            plan.complete || !built.empty() ? name_of(best_fit(built, target.sm)) : "unknown");
    out.push(std::move(row));
  }
  return out;
}

}  // namespace

Json plan_json(const Plan& plan) {
  Json images = Json::array();
  for (const auto& g : plan.gencodes) {
    Json row = Json::object();
    row.add("image", g.image().str()).add("flag", g.flag()).add("reason", g.reason);
    images.push(std::move(row));
  }
  Json targets = Json::array();
  for (const auto& t : plan.targets) {
    Json row = Json::object();
    row.add("target", t.sm.dotted()).add("label", t.label).add("from", t.from);
    targets.push(std::move(row));
  }
  Json out = Json::object();
  out.add("schema", "torch-cuda-stack/plan/1")
      .add("complete", plan.complete)
      .add("by_user", plan.by_user);
  out.add("list_from", plan.list_from)
      .add("images", std::move(images))
      .add("targets", std::move(targets));
  out.add("gencode_flags", strings(gencode_flags(plan)));
  out.add("nvcc", plan.nvcc).add("nvcc_archs", strings(plan.nvcc_archs));
  out.add("torch_cuda_arch_list", dialect_json(torch_list(plan)));
  out.add("torch_python_list", dialect_json(torch_python_list(plan)));
  out.add("cuda_architectures", dialect_json(cmake_architectures(plan)));
  return out;
}

Json report_json(const Report& report, const Facts& facts, const Plan& plan) {
  Json findings = Json::array();
  for (const auto& finding : report.findings) findings.push(finding_json(finding));
  Json out = Json::object();
  out.add("schema", "torch-cuda-stack/report/1")
      .add("outcome", report.outcome)
      .add("complete", report.complete);
  out.add("findings", std::move(findings))
      .add("plan", plan_json(plan))
      .add("coverage", coverage_json(facts, plan))
      .add("availability", availability_json(facts, plan));
  return out;
}

}  // namespace tcs
