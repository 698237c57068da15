// SPDX-License-Identifier: Apache-2.0
#include "script.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tcs_double {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out(1);
  for (char c : text) {
    if (c == at)
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

void describe(Device& device, const std::string& word) {
  if (word == "integrated") device.integrated = true;
  if (word == "error") device.error = true;
  if (word == "lost") device.lost = true;
  if (word == "reset") device.reset = true;
  if (word == "busy") device.busy = true;
  if (word == "exclusive") device.compute_mode = 3;
  if (word == "prohibited") device.compute_mode = 2;
  if (word.compare(0, 3, "mig") == 0) device.mig = true;
  if (word.compare(0, 4, "mig=") == 0) device.instances = split(word.substr(4), '+');
}

void add_device(Script& script, const std::string& text) {
  const std::vector<std::string> words = split(text, ',');
  Device device;
  device.board = static_cast<int>(script.devices.size());
  sscanf(words[0].c_str(), "%d.%d", &device.major, &device.minor);
  if (words.size() > 1) device.name = words[1];
  for (size_t i = 2; i < words.size(); ++i) describe(device, words[i]);
  script.devices.push_back(device);
}

// "CALL@ONLY:NUMBER"
Event event(Event::Kind kind, std::string text) {
  Event out{kind, "", "", 0};
  const size_t colon = text.rfind(':');
  if (colon != std::string::npos) {
    out.number = atoi(text.c_str() + colon + 1);
    text.resize(colon);
  }
  const size_t at = text.find('@');
  if (at != std::string::npos) {
    out.only = text.substr(at + 1);
    text.resize(at);
  }
  out.call = text;
  return out;
}

struct EventWord {
  const char* word;
  Event::Kind kind;
};
const EventWord event_words[] = {
    {"fail", Event::Kind::Fail},       {"hang", Event::Kind::Hang},
    {"crash", Event::Kind::Crash},     {"abort", Event::Kind::Abort},
    {"exit", Event::Kind::Exit},       {"partial", Event::Kind::Partial},
    {"garbage", Event::Kind::Garbage}, {"slow", Event::Kind::Slow},
    {"wrong", Event::Kind::Wrong},
};

void read_word(Script& script, const std::string& word, const char* first_call) {
  const size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  if (name == "init") script.init = atoi(value.c_str());
  if (name == "version") script.version = value;
  if (name == "device") add_device(script, value);
  if (name == "count") script.claimed = atoi(value.c_str());
  if (name == "noise") script.noise = true;
  if (name == "nojit") script.no_jit = true;
  for (const EventWord& known : event_words) {
    if (name != known.word) continue;
    script.events.push_back(event(known.kind, value));
    if (script.events.back().call.empty() && known.kind != Event::Kind::Wrong)
      script.events.back().call = first_call;
  }
}

// To whoever reads this process: its standard output, and every pipe that it holds besides.
void write_everywhere(const char* text) {
  for (int fd = 1; fd < 64; ++fd) {
    struct stat what;
    if (fd == 2 || fstat(fd, &what) != 0) continue;
    if (fd != 1 && !S_ISFIFO(what.st_mode) && !S_ISSOCK(what.st_mode)) continue;
    if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY) continue;
    if (write(fd, text, strlen(text)) < 0) continue;
  }
}

void happen(const Event& event) {
  switch (event.kind) {
    case Event::Kind::Hang:
      for (;;) sleep(1);
    case Event::Kind::Crash:
      signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would make an exit status of it
      fprintf(stderr, "libcuda double: about to read address 0 in %s\n", event.call.c_str());
      raise(SIGSEGV);
      break;
    case Event::Kind::Abort:
      signal(SIGABRT, SIG_DFL);
      fprintf(stderr, "libcuda double: assertion failed in %s\n", event.call.c_str());
      abort();
    case Event::Kind::Exit:
      fprintf(stderr, "libcuda double: giving up in %s\n", event.call.c_str());
      _exit(event.number);
    case Event::Kind::Partial:
      write_everywhere("{\"probe\":\"tcs-driver/1\",\"ver");
      _exit(event.number);
    case Event::Kind::Garbage:
      write_everywhere("\x01\xff not an answer }{\n");
      break;
    case Event::Kind::Slow:
      usleep(static_cast<useconds_t>(event.number) * 1000);
      break;
    case Event::Kind::Fail:
    case Event::Kind::Wrong:
      break;
  }
}

}  // namespace

// Boards count from 00010203..., 10111213...; a MIG instance has a0, a1 ... in place of the first.
void Device::uuid_bytes(unsigned char* out) const {
  for (int i = 0; i < 16; ++i) out[i] = static_cast<unsigned char>(board * 16 + i);
  if (instance >= 0) out[0] = static_cast<unsigned char>(0xa0 + instance);
}

std::string Device::uuid() const {
  unsigned char bytes[16];
  uuid_bytes(bytes);
  std::string out = instance >= 0 ? "MIG-" : "GPU-";
  for (int i = 0; i < 16; ++i) {
    char two[3];
    snprintf(two, sizeof two, "%02x", static_cast<unsigned>(bytes[i]));
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += two;
  }
  return out;
}

Device Device::mig_instance(int index) const {
  Device out = *this;
  out.instance = index;
  out.name += " MIG " + instances[static_cast<size_t>(index)];
  out.instances.clear();
  return out;
}

Script read_script(const char* variable, const char* first_call) {
  Script script;
  const char* text = getenv(variable);
  if (text == nullptr) return script;
  for (const std::string& word : split(text, ';')) read_word(script, word, first_call);
  return script;
}

int act(const Script& script, const char* call, const std::string& subject) {
  int answer = 0;
  for (const Event& event : script.events) {
    if (event.call != call || (!event.only.empty() && event.only != subject)) continue;
    happen(event);
    if (event.kind == Event::Kind::Fail) answer = event.number;
  }
  return answer;
}

bool says_wrong(const Script& script, const std::string& subject) {
  for (const Event& event : script.events) {
    if (event.kind == Event::Kind::Wrong && (event.only.empty() || event.only == subject))
      return true;
  }
  return false;
}

void log_call(const std::string& line) {
  const char* path = getenv("TCS_DOUBLE_LOG");
  if (path == nullptr) return;
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  const std::string text = line + "\n";
  if (write(file, text.data(), text.size()) < 0) perror("TCS_DOUBLE_LOG");
  close(file);
}

}  // namespace tcs_double
