#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# python_on_path.sh SOURCE FOLDER: with the environment of a quickstart in FOLDER on PATH and no variable that
# names it, as in a container, a quickstart elsewhere takes its PyTorch and installs none.
set -eu
venv=$2/venv other=$2-on-path
[ -x "$venv/bin/python3" ] || { echo "quickstart used another PyTorch: nothing to show here" && exit 0; }
for toolkit in "$venv"/lib/python3*/site-packages/nvidia/cu*; do
  [ ! -x "$toolkit/bin/nvcc" ] || export CUDA_HOME="$toolkit"
done
unset VIRTUAL_ENV CONDA_PREFIX
export PATH="$venv/bin:$PATH" TORCH_CUDA_STACK_TARGETS=9.0
said=$("$1/quickstart" --dir "$other" 2>&1) || { echo "$said" && exit 1; }
echo "$said"
rm -rf "$other"
case $said in *"of $venv/bin/python3 is used as it is"*) ;; *) echo "FAILED: it took another" && exit 1 ;; esac
