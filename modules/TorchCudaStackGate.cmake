# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
TorchCudaStackGate
------------------

Checks a project that one cannot change, and sets its plan, from outside:

.. code-block:: console

  cmake -DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=<modules>/TorchCudaStackGate.cmake ...

It runs in the first ``project()`` call, before a language is enabled, and again for each ``find_package(Torch)`` of the
project, as a dependency provider: what this PyTorch, CMake and toolkit need is repaired, and what came of it is checked.
Findings stop the configure. A project of which no CMake file names CUDA or Torch is let through. The hints are those of ``FindTorchCudaStack``, and:

``TorchCudaStack_PURPOSE``
  What is built: ``extension`` or ``pytorch-source``; without it the tool looks at the source folder.

See docs/gate.md.
#]=======================================================================]

if(CMAKE_VERSION VERSION_LESS 3.25)
  message(
    FATAL_ERROR
    "TorchCudaStackGate needs CMake 3.25 or newer; this is ${CMAKE_VERSION}: pip install cmake"
  )
endif()
get_property(_tcs_trial GLOBAL PROPERTY IN_TRY_COMPILE)
if(_tcs_trial)
  return()
endif()
include_guard(GLOBAL)

# First, under the project's own policies: what is called there runs by them.
include("${CMAKE_CURRENT_LIST_DIR}/TorchCudaStack/detail/_tcs_provider.cmake")

# An old project's policies are not ours; a new one's are. CMake gives this file no scope of its own.
cmake_policy(PUSH)
cmake_policy(GET CMP0142 _tcs_recent)
if(NOT "${_tcs_recent}" STREQUAL "NEW")
  cmake_policy(VERSION 3.25)
endif()
unset(_tcs_recent)

set(_tcs_gated TRUE)
include("${CMAKE_CURRENT_LIST_DIR}/TorchCudaStack/detail/_tcs_load.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/TorchCudaStack/detail/_tcs_gate.cmake")
_tcs_pass_gate("${CMAKE_CURRENT_LIST_FILE}")
cmake_policy(POP)
