// SPDX-License-Identifier: Apache-2.0
// Collects one plan: checks each image against what nvcc builds, keeps reasons and issues.
#pragma once
#include <string>

#include "base/list.h"
#include "plan/buildable.h"
#include "plan/grammar.h"
#include "plan/plan.h"
#include "tables/tables.h"

namespace tcs {

class Planner {
 public:
  Planner(const Facts& facts, const Request& request);

  void follow_list(const Text& list, const std::string& dialect);  // the user's own list
  void follow_targets();                                           // explicit or default targets
  void record_targets();  // the same, without images for them
  Plan finish();

  List<Sm> archs() const;                // of the images so far, sorted, unique
  List<Sm> wanted() const;               // these, and what was written and nvcc does not build
  bool vague() const { return vague_; }  // words were followed whose meaning takes unknown facts
  PlanIssue& say(PlanIssue::Kind kind, const std::string& token, std::string detail = {});

 private:
  void follow(const ArchToken& token);
  void arch(const ArchToken& token);
  void suffix_ptx(const ArchToken& token);
  void guess_number(const ArchToken& token, PlanIssue& issue) const;
  void name(const ArchToken& token);
  void all(const ArchToken& token, bool majors_only);

  void one_target(const std::string& text);
  void unknown_target(const std::string& word, const List<const GpuRow*>& gpus);
  bool is_release_here(const Sm& sm) const;
  bool may_be_target(const Sm& sm) const;
  void target_token(const ArchToken& token);
  void native(const std::string& token);
  void torch(const std::string& token);
  void defaults(const std::string& token);
  void serve(const Target& target);
  void nearest(const Target& target);

  void refuse(PlanIssue issue, const ArchToken& token);
  bool add(const Sm& virt, const Sm& real, bool ptx, const std::string& reason);
  void target(const Sm& sm, std::string label, std::string from, int device = -1);
  List<const Device*> visible_devices() const;
  bool devices_known() const;
  void check_torch_parser();
  void check_families();

  const Facts& facts_;
  const Request& request_;
  Buildable build_;
  Plan plan_;
  std::string where_;     // where the tokens being followed were written
  bool by_user_ = false;  // they were written by the user
  bool emit_ = true;      // targets get images
  bool vague_ = false;
  List<std::string> unread_;  // written in a way that torch's Python does not read: "sm_90"
  List<Sm> written_;  // by the user, as entries of their own, whether nvcc builds them or not
};

}  // namespace tcs
