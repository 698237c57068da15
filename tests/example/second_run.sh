#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# second_run.sh SOURCE FOLDER: a quickstart in a FOLDER where one has been must install and compile nothing.
set -eu
log=$2/second_run.txt
"$1/quickstart" --dir "$2" >"$log" 2>&1 || { cat "$log" && exit 1; }
cat "$log"
if grep -E 'To be installed|apt-get' "$log"; then
  echo "FAILED: the second run installed something again"
  exit 1
fi
grep -q 'no work to do' "$2/log/build.txt" || { echo "FAILED: the second run compiled something again" && exit 1; }
