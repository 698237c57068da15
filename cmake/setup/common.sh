# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2086 # $as_root and $packages are lists of words
# Shell helpers of ./quickstart and ./run-tests: POSIX sh, sourced with $root set and set -eu on.

say() { printf '%s\n' "$*"; }
warn() { printf '%s\n' "$*" >&2; }
heading() { printf '\n== %s\n' "$*"; }
have() { command -v "$1" >/dev/null 2>&1; }

# fail TEXT...: one line an argument, then the end.
fail() {
  printf '\n' >&2
  for fail_line in "$@"; do printf '%s\n' "$fail_line" >&2; done
  exit 1
}

now() { date +%s; }
started=$(now)
elapsed() { # elapsed [SINCE]
  elapsed_s=$(($(now) - ${1:-$started}))
  if [ "$elapsed_s" -lt 60 ]; then printf '%s s' "$elapsed_s"; else
    printf '%s min %02d s' $((elapsed_s / 60)) $((elapsed_s % 60))
  fi
}

# version_at_least HAVE WANT, for dotted numbers
version_at_least() {
  [ "$(printf '%s\n%s\n' "$2" "$1" | sort -t. -k1,1n -k2,2n -k3,3n | head -n 1)" = "$2" ]
}

# How large a folder is, in MB: what a download has got so far.
size_mb() {
  size_kb=$(du -sk "$1" 2>/dev/null | cut -f1)
  printf '%s' $((${size_kb:-0} / 1024))
}

# How far the running step is: what Ninja or ctest counted, packages set up, or what has been written.
how_far() { # how_far LOG
  if [ -n "$watched" ]; then
    printf '%s MB written' $(($(size_mb "$watched") - watched_start))
    return
  fi
  far=$(tail -c 2000 "$1" 2>/dev/null | tr '\r' '\n' | grep -o '^ *\[*[0-9][0-9]*/[0-9][0-9]*' | tail -n 1 | tr -d '[ ')
  of=$(sed -n 's/.* \([0-9]*\) newly installed.*/\1/p' "$1" 2>/dev/null | tail -n 1)
  [ -z "$of" ] || far="$(grep -c '^Setting up' "$1") of $of packages set up"
  [ -n "$far" ] || far=$(sed -n 's/^-- //p' "$1" 2>/dev/null | tail -n 1 | cut -c 1-60) # CMake
  printf '%s' "$far"
}

# What a failed step shows of its output.
log_end() { # log_end LOG
  tail -n 30 "$1" | sed 's/^/   | /'
}

# step LABEL LOG COMMAND...: runs it with its output in LOG; meanwhile shows how far it is, on a
# terminal in place, elsewhere a line every half minute. A failure shows the log's end and ends all.
# Set `shown` to another function than log_end to choose what a failure shows, `watched` to a folder whose growth tells the progress, where the command says nothing.
watched='' shown=log_end
step() {
  step_label=$1 step_log=$2
  shift 2
  step_start=$(now) step_said=$step_start watched_start=0
  [ -z "$watched" ] || watched_start=$(size_mb "$watched")
  "$@" >"$step_log" 2>&1 </dev/null &
  step_pid=$!
  trap 'kill $step_pid 2>/dev/null; exit 130' INT TERM
  [ -t 1 ] || say "   $step_label ..."
  while kill -0 $step_pid 2>/dev/null; do
    sleep 0.2 2>/dev/null || sleep 1
    if [ -t 1 ]; then
      [ $(($(now) - step_said)) -lt 1 ] && continue
      printf '\r   %s ... %s  %s\033[K' "$step_label" "$(elapsed "$step_start")" "$(how_far "$step_log")"
    else
      [ $(($(now) - step_said)) -lt 30 ] && continue
      say "   $step_label ... $(elapsed "$step_start")  $(how_far "$step_log")"
    fi
    step_said=$(now)
  done
  step_rc=0
  wait $step_pid || step_rc=$?
  trap - INT TERM
  watched=''
  [ ! -t 1 ] || printf '\r\033[K'
  if [ $step_rc -ne 0 ]; then
    warn "   $step_label: failed after $(elapsed "$step_start")"
    warn ""
    $shown "$step_log" >&2
    fail "$step_label failed (exit status $step_rc). The whole output: $step_log"
  fi
  say "   $step_label: done in $(elapsed "$step_start")"
}

# ---- what the machine has to have

# The C++ compiler that will be used, or nothing.
cxx_compiler() {
  for cxx_name in ${CXX:+"$CXX"} c++ g++ clang++; do
    if have "$cxx_name"; then
      command -v "$cxx_name"
      return
    fi
  done
}

cmake_version() { cmake --version 2>/dev/null | sed -n 's/^cmake version \([0-9.]*\).*/\1/p'; }

python_has_venv() { "$1" -c 'import ensurepip, venv' >/dev/null 2>&1; }
python_has_headers() {
  "$1" -c 'import os, sys, sysconfig
sys.exit(not os.path.isfile(os.path.join(sysconfig.get_path("include"), "Python.h")))' >/dev/null 2>&1
}

# Fills `missing` (what, in words) and `packages` (Debian's names of it).
missing=''
packages=''
lacks() { # lacks PACKAGE WORDS
  missing="$missing
   - $2"
  packages="$packages $1"
}
find_missing() { # find_missing PYTHON
  missing=''
  packages=''
  [ -n "$(cxx_compiler)" ] || lacks g++ "a C++17 compiler (g++ >= 9 or clang >= 10)"
  cmake_found=$(cmake_version)
  if [ -z "$cmake_found" ]; then
    lacks cmake "CMake >= 3.25"
  elif ! version_at_least "$cmake_found" 3.25; then
    lacks cmake "CMake >= 3.25 (here: $cmake_found)"
  fi
  have ninja || lacks ninja-build "Ninja"
  if ! have "$1"; then
    lacks "python3 python3-venv python3-dev" "Python >= 3.9 with its venv module and its headers (Python.h)"
  else
    python_has_venv "$1" || lacks python3-venv "Python's venv module with ensurepip ($1 -m venv)"
    python_has_headers "$1" || lacks python3-dev "Python's headers (Python.h of $(command -v "$1"))"
  fi
}

as_root=''
can_install() {
  have apt-get || return 1
  [ "$(id -u)" -ne 0 ] || return 0
  have sudo || return 1
  as_root=sudo
  [ -t 0 ] || as_root="sudo -n"
  # The password is asked for here, not behind a progress display.
  $as_root true
}

# install_packages LOG PACKAGE...: as root or through sudo
install_packages() {
  install_log=$1
  shift
  step "apt-get update" "$install_log" $as_root apt-get update
  step "apt-get install" "$install_log" \
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

# ensure_tools PYTHON LOG: everything is there afterwards, or the script ends with what to do.
ensure_tools() {
  find_missing "$1"
  if [ -n "$packages" ]; then
    say "   Missing here:$missing"
    if can_install; then
      say "   To be installed with ${as_root:+$as_root }apt-get:$packages"
      install_packages "$2" $packages
      find_missing "$1"
      [ -z "$packages" ] || fail "Still missing after apt-get install:$missing"
    elif have apt-get; then
      fail "This user cannot install packages. Have an administrator run" \
        "   apt-get install --no-install-recommends$packages" "and start this again: it goes on from here."
    else
      fail "There is no apt-get here, so these have to be installed by hand:$missing" \
        "Start this again afterwards: it goes on from here."
    fi
  fi
  say "   C++:    $(cxx_compiler) ($($(cxx_compiler) --version | head -n 1))"
  say "   CMake:  $(cmake_version), Ninja $(ninja --version)"
  say "   Python: $("$1" -c 'import sys; print(sys.executable, sys.version.split()[0])')"
}

cores() { getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1; }

# free_gb FOLDER
free_gb() { df -Pk "$1" | awk 'NR == 2 { print int($4 / 1048576) }'; }
