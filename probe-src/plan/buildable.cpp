// SPDX-License-Identifier: Apache-2.0
#include "plan/buildable.h"

#include <algorithm>

#include "base/text.h"
#include "tables/tables.h"

namespace tcs {

namespace {

using Issue = PlanIssue::Kind;

bool has(const List<Sm>& sorted, const Sm& sm) {
  return std::binary_search(sorted.begin(), sorted.end(), sm);
}

void tidy(List<Sm>& list) {
  sort_unique(list);
}

// CUDA 13.0 renumbered Thor: 10.1 became 11.0 (CUDA Features Archive).
bool renamed(const Sm& sm, Sm& other) {
  if (sm.base() == Sm{10, 1, 0}) other = Sm{11, 0, sm.suffix};
  if (sm.base() == Sm{11, 0, 0}) other = Sm{10, 1, sm.suffix};
  return other.major != 0;
}

// A capability that no table has: could a coming GPU have it? Majors well below the newest are
// closed, and nobody has announced ones far above it.
bool may_come(const Sm& sm) {
  const int newest = newest_arch().major;
  return sm.major >= newest - 2 && sm.major <= newest + 3;
}

void explain_unlisted(const Sm& sm, PlanIssue& issue) {
  if (find_arch(sm.base()) != nullptr) {
    issue.kind = Issue::NoSuchSuffix;
    issue.corrected = sm.base().dotted();
    for (const ArchRow& row : arch_rows()) {
      if (row.sm.base() == sm.base() && !row.sm.plain()) issue.corrected = row.sm.dotted();
    }
  } else if (ptx_isa_written_by(sm.major * 100 + sm.minor) != 0) {
    issue.kind = Issue::Nonsense;
    issue.detail = cat(sm.base().dotted(), " is a CUDA release, not a compute capability");
  } else if (may_come(sm)) {
    issue.kind = Issue::NotYetKnown;
    issue.detail = cat("no CUDA release up to ", release_text(newest_cuda()), " builds it");
  } else {
    issue.kind = Issue::Nonsense;
    issue.detail = sm < arch_rows().begin()->sm
                       ? cat(sm.base().dotted(), " is older than what CUDA since ",
                             release_text(1000), " builds")
                       : cat("no GPU has compute capability ", sm.base().dotted());
  }
}

}  // namespace

Buildable::Buildable(const Toolkit* toolkit) {
  if (toolkit == nullptr) return;
  Version version = Version::parse(toolkit->version.or_else(""));
  version_ = version.dotted();
  release_ = release_of(version);
  if (toolkit->archs.known() && !toolkit->archs.value().empty()) {
    read_names(toolkit->archs.value());
    from_ = nvcc();
  } else if (release_ != 0 && release_ <= newest_cuda()) {
    read_table();
    from_ = cat("the table for CUDA ", release_text(release_));
  }
  known_ = !real_.empty();
}

void Buildable::read_names(const List<std::string>& names) {
  bool lists_virtual = false;
  for (const std::string& name : names) {
    Image image;
    if (!parse_image(name, image)) continue;
    (image.ptx ? virt_ : real_).push_back(image.sm);
    lists_virtual = lists_virtual || image.ptx;
  }
  if (real_.empty()) real_ = virt_;
  for (const Sm& sm : real_) {
    if (!lists_virtual || !sm.plain()) virt_.push_back(sm);
  }
  tidy(real_);
  tidy(virt_);
}

void Buildable::read_table() {
  for (const ArchRow& row : arch_rows()) {
    if (row.built_by(release_)) real_.push_back(row.sm);
  }
  virt_ = real_;
}

std::string Buildable::nvcc() const {
  return version_.empty() ? "this nvcc" : cat("nvcc ", version_);
}

bool Buildable::could_exist(const Sm& sm) {
  return find_arch(sm) != nullptr || (find_arch(sm.base()) == nullptr && may_come(sm));
}

bool Buildable::real(const Sm& sm) const {
  return known_ ? has(real_, sm) : could_exist(sm);
}

bool Buildable::virt(const Sm& sm) const {
  return known_ ? has(virt_, sm) : could_exist(sm);
}

bool Buildable::assembles(const Sm& virtual_arch, const Sm& real_arch) const {
  return real_arch.suffix != 'f' || virtual_arch.major == real_arch.major || release_ == 0 ||
         release_ >= 1301;
}

PlanIssue Buildable::refuse(const Sm& sm) const {
  PlanIssue issue;
  issue.token = sm.dotted();
  const ArchRow* row = find_arch(sm);
  if (row == nullptr) {
    explain_unlisted(sm, issue);
    return issue;
  }
  issue.range_begin = release_text(row->first);
  issue.range_end = release_text(row->last);
  Sm other;
  if (renamed(sm, other) && release_ != 0 && real(other)) {
    issue.kind = Issue::Renamed;
    issue.corrected = other.dotted();
  } else if (row->last != 0 && release_ > row->last) {
    issue.kind = Issue::Removed;
  } else {
    issue.kind = Issue::NotYetKnown;
    if (release_ == 0 || row->built_by(release_)) {
      issue.detail = cat(nvcc(), " refuses it, though CUDA ", issue.range_begin, " has it");
    }
  }
  return issue;
}

namespace {

struct Group {
  List<Image> images;
  int64_t count = 0;
};

// Wide, as all sums of counts: a recording's may each be as large as an int.
int64_t fat_binaries_of(const TorchLibrary& library) {
  int64_t sum = 0, most = 0;
  for (const ImageSet& set : library.sets) sum += set.count;
  for (const CoverageRow& row : library.coverage) most = std::max<int64_t>(most, row.fat_binaries);
  return std::max(sum, most);
}

// Optional parts with lists of their own: MAGMA (2.11: no 7.5) and NVSHMEM.
bool is_side_library(const TorchLibrary& library) {
  for (const char* part : {"linalg", "nvshmem", "libc10_"})
    if (contains(library.name.value(), part)) return true;
  return false;
}

// Its fat binaries by the set of images they hold, without the specialised ones. Empty where the
// recording has no sets.
List<Group> fat_binary_groups(const TorchLibrary& library) {
  List<Group> all, several;
  for (const ImageSet& set : library.sets) {
    Group group;
    group.count = set.count;
    bool mixed = false;
    for (const std::string& name : set.images) {
      Image image;
      if (!parse_image(name, image)) continue;
      group.images.push_back(image);
      mixed = mixed || image.sm.base() != group.images[0].sm.base();
    }
    if (group.images.empty()) continue;
    all.push_back(group);
    if (mixed) several.push_back(group);
  }
  return several.empty() ? all : several;
}

bool is_own(const Image& image, const List<Group>& groups) {
  int64_t total = 0, present = 0, served = 0;
  for (const Group& group : groups) {
    const List<Image>& images = group.images;
    total += group.count;
    if (contains(images, image)) present += group.count;
    if (best_fit(images, image.sm.base()) != Fit::None) served += group.count;
  }
  return present * 2 > total && served * 10 >= total * 9;
}

void add_unique(List<Image>& list, const Image& image) {
  if (!contains(list, image)) list.push_back(image);
}

// A recording with counts but no sets: the images in most of the fat binaries.
List<Image> from_coverage(const TorchLibrary& library) {
  List<Image> own;
  for (const CoverageRow& row : library.coverage) {
    Image image;
    bool most = int64_t{row.fat_binaries} * 2 > fat_binaries_of(library);
    if (most && parse_image(row.arch, image)) add_unique(own, image);
  }
  return own;
}

// A bare list of names: the plain ones, since a/f images are specialised in every release so far.
List<Image> from_names(const TorchFacts& torch) {
  List<std::string> names = torch.images.value();
  for (const TorchLibrary& library : torch.libraries) {
    if (is_side_library(library)) continue;
    const List<std::string>& more = library.images.value();
    names.append(more);
  }
  List<Image> plain, all;
  for (const std::string& name : names) {
    Image image;
    if (!parse_image(name, image)) continue;
    add_unique(all, image);
    if (image.sm.plain()) add_unique(plain, image);
  }
  return plain.empty() ? all : plain;
}

}  // namespace

const TorchLibrary* main_library(const TorchFacts& torch) {
  const TorchLibrary* best = nullptr;
  int64_t most = 0;
  for (const TorchLibrary& library : torch.libraries) {
    if (is_side_library(library)) continue;
    const int64_t count = fat_binaries_of(library);
    if (count > most) best = &library;
    most = std::max(most, count);
  }
  return best;
}

List<Image> own_images(const TorchFacts& torch) {
  List<Image> own;
  if (const TorchLibrary* library = main_library(torch)) {
    List<Group> groups = fat_binary_groups(*library);
    for (const Group& group : groups) {
      for (const Image& image : group.images) {
        if (is_own(image, groups)) add_unique(own, image);
      }
    }
    if (groups.empty()) own = from_coverage(*library);
  }
  if (own.empty()) own = from_names(torch);
  sort_few(own);
  return own;
}

}  // namespace tcs
