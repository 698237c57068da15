// SPDX-License-Identifier: Apache-2.0
// A pip toolkit has no lib64 and no unversioned libcudart.so, which find_package(Torch) and
// FindCUDA need. A folder of links in the build tree is a whole root; the toolkit itself is not
// touched.
#include "base/text.h"
#include "facts/gather.h"

namespace tcs {
namespace {

class Farm {
 public:
  explicit Farm(Host& host) : host_(host) {}

  // Leaves a link alone that leads there already: a build may be reading through it.
  void link(const std::string& target, const std::string& path) {
    if (!error_.text.empty() || !host_.stat(target).exists()) return;
    if (host_.real_path(path) == host_.real_path(target)) return;
    note(host_.symlink(target, path));
  }
  void folder(const std::string& path) {
    if (error_.text.empty())
      note(host_.make_directories(path, 0777));  // others may build with it too
  }
  // A link for each entry of `from`.
  void entries(const std::string& from, const std::string& to) {
    Result<List<std::string>> names = host_.list(from);
    if (!names) return;
    folder(to);
    for (const std::string& name : *names) link(path_join(from, name), path_join(to, name));
  }
  // Those that `own` has not; what is there of an earlier PyTorch's gives way.
  void more_entries(const std::string& from, const std::string& own, const std::string& to) {
    Result<List<std::string>> names = host_.list(from);
    for (size_t i = 0; names && i < names->size(); ++i)
      if (!host_.stat(path_join(own, (*names)[i])).exists())
        link(path_join(from, (*names)[i]), path_join(to, (*names)[i]));
  }
  // libcudart.so beside libcudart.so.13, for every library that has a versioned name only. What
  // leads into `own` stays.
  void unversioned(const std::string& from, const std::string& to, const std::string& own = {}) {
    Result<List<std::string>> names = host_.list(from);
    if (!names) return;
    for (const std::string& name : *names) {
      size_t so = name.find(".so.");
      if (so == std::string::npos) continue;
      std::string bare = name.substr(0, so + 3);
      const bool owned = !own.empty() && starts_with(host_.real_path(path_join(to, bare)),
                                                     host_.real_path(own) + "/");
      if (!owned && !host_.stat(path_join(from, bare)).exists())
        link(path_join(from, name), path_join(to, bare));
    }
  }
  const Error& error() const { return error_; }

 private:
  void note(const Result<Done>& done) {
    if (!done) error_ = done.error();
  }
  Host& host_;
  Error error_;
};

bool lacks(const Toolkit& t, std::string_view part) {
  for (const std::string& missing : t.missing.value())
    if (missing == part) return true;
  return false;
}

// FindCUDA looks in lib64 and lib of the root; a distribution's libraries lie in a folder by
// triplet, which CMake searches below /usr only.
bool whole(const Toolkit& t) {
  const std::string &root = t.root.value(), &lib = t.library_dir.value();
  if (lacks(t, "lib64") || lacks(t, "libcudart.so")) return false;
  return !t.layout.is("distribution") || root == "/usr" || lib == root + "/lib64" || lib.empty();
}

}  // namespace

Result<std::string> lay_link_farm(Host& host, const Toolkit& toolkit, const std::string& dir,
                                  const std::string& torchs) {
  const std::string& root = toolkit.root.value();
  // An nvcc that does not answer has no root, and clang needs no whole one: nothing to complete.
  if (root.empty() || !toolkit.nvcc.known() || whole(toolkit)) return root;

  // nvcc does not follow a link to itself: called as DIR/bin/nvcc it reads DIR/bin/nvcc.profile and
  // takes DIR/bin/.. for its root. With bin one link, that '..' would lead back into the toolkit
  // and past lib64; so bin is a folder with a link for each file. (13.2 and 13.5, nvcc --dryrun.)
  std::string include = toolkit.include_dir.or_else(root + "/include");
  // Laid for another toolkit: none of its links may stay. A toolkit of ours may lie in the folder.
  const bool other = host.real_path(dir + "/bin/nvcc") != host.real_path(toolkit.nvcc.value());
  // The headers are one link, or a folder with PyTorch's among them; a link is not written through.
  const bool linked = host.real_path(dir + "/include") == host.real_path(include);
  List<std::string> stale;
  if (other) stale = {"/include", "/bin", "/lib", "/lib64", "/nvvm"};
  if (!other && linked != torchs.empty()) stale = {"/include"};
  for (const std::string& name : stale) {
    Result<Done> removed = host.remove_tree(dir + name);
    if (!removed) return removed.error();
  }
  Farm farm(host);
  farm.folder(dir);
  farm.entries(root + "/bin", dir + "/bin");
  farm.link(toolkit.nvcc.value(), dir + "/bin/nvcc");
  farm.link(toolkit.driver_dir.value() + "/crt", dir + "/bin/crt");  // CMake wants its link.stub
  if (torchs.empty()) {
    farm.link(include, dir + "/include");
  } else {
    farm.entries(include, dir + "/include");
    farm.more_entries(torchs + "/include", include, dir + "/include");
  }
  farm.link(root + "/nvvm", dir + "/nvvm");
  farm.link(root + "/lib/nvidia-cuda-toolkit", dir + "/nvvm");  // a distribution's cicc, libdevice
  const std::string& libraries = toolkit.library_dir.value();
  if (lacks(toolkit, "libcudart.so") && !libraries.empty()) {
    farm.entries(libraries, dir + "/lib64");
    farm.unversioned(libraries, dir + "/lib64");
    if (!torchs.empty()) farm.unversioned(torchs + "/lib", dir + "/lib64", libraries);
  } else if (!libraries.empty()) {
    farm.link(libraries, dir + "/lib64");
  }
  farm.link(dir + "/lib64", dir + "/lib");  // nvcc.profile says lib
  if (!farm.error().text.empty()) return farm.error();
  return dir;
}

}  // namespace tcs
