// SPDX-License-Identifier: Apache-2.0
// The script of a double: words separated by ';', read once when the library is loaded.
// README.md lists them.
#pragma once
#include <string>
#include <vector>

#define TCS_DOUBLE_CALL extern "C" __attribute__((visibility("default")))

namespace tcs_double {

struct Device {
  int board = 0;      // its number on the machine, whatever a mask shows
  int instance = -1;  // of a MIG board: which of its instances this is
  int major = 0, minor = 0;
  std::string name;
  bool integrated = false, error = false, lost = false, reset = false, busy = false;
  int compute_mode = 0;  // CU_COMPUTEMODE_*: 0 default, 2 prohibited, 3 exclusive process
  bool mig = false;
  std::vector<std::string> instances;  // profiles, "1g.5gb"
  std::string uuid() const;            // "GPU-..." or "MIG-..."
  void uuid_bytes(unsigned char* out) const;
  Device mig_instance(int index) const;
};

// "hang=CALL", "fail=CALL@sm_90:719": what happens in a call, or in it for one image or device
// only.
struct Event {
  enum class Kind { Fail, Hang, Crash, Abort, Exit, Partial, Garbage, Slow, Wrong } kind;
  std::string call, only;
  int number = 0;  // Fail: the answer; Slow: milliseconds; Exit: the status
};

struct Script {
  int init = 0;
  std::string version;
  int claimed = -1;  // what the count of devices is said to be
  bool noise = false, no_jit = false;
  std::vector<Device> devices;
  std::vector<Event> events;
};

// `variable`: the script's name; `first_call`: what a bare "hang" or "crash" is about.
Script read_script(const char* variable, const char* first_call);

// What the script says of this call: does not come back where it hangs, crashes or exits; else the
// error to answer, 0 for none. `subject`: the image or the number of the device.
int act(const Script& script, const char* call, const std::string& subject = "");
bool says_wrong(const Script& script, const std::string& subject);

// One line, in one write(), to the file that TCS_DOUBLE_LOG names.
void log_call(const std::string& line);

}  // namespace tcs_double
