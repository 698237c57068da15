# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
FindTorchCudaStack
------------------

Measures the chain device, driver, toolkit (with its host compiler), PyTorch, Python; derives one architecture plan from
it; and stops the configure with a finding that names the layers that disagree, before anything of yours is compiled.

.. code-block:: cmake

  find_package(TorchCudaStack 0.1 REQUIRED COMPONENTS Device Driver Toolkit HostCompiler Runtime Torch Python)
  torch_cuda_stack_add_extension(my_ops SOURCES my_ops.cpp my_kernels.cu)

Call it in the directory of the targets or above, not inside a function: the CUDA language and its settings belong to a
directory. Each call has its own plan, in ``TorchCudaStack/`` of its binary directory. Components: ``Device``, ``Driver``, ``Toolkit``, ``HostCompiler``, ``Runtime``, ``Torch``, ``Python``. Without
``COMPONENTS`` all of them are meant. No GPU and no driver is no failure by itself.

``Link`` is for the config file of a library that is compiled already, ``find_dependency(TorchCudaStack COMPONENTS Link)``:
alone it measures nothing, needs no CUDA compiler, and makes ``TorchCudaStack::Torch`` for those who link the library; see
:module:`FindTorchCudaStackLink`.

Hints
^^^^^

Each is read as a normal variable, then as a cache entry, then from the environment as ``TORCH_CUDA_STACK_<NAME>``.

``TorchCudaStack_TARGETS``
  What must be served: ``native``, ``torch`` (what the installed PyTorch has images for), capabilities, GPU names.
``TorchCudaStack_TOOLKIT``
  Folder of the CUDA toolkit to use.
``TorchCudaStack_FACTS``
  Replay recorded facts instead of probing this machine: a plan and findings, no compiler and no PyTorch.
``TorchCudaStack_FAIL_ON``
  ``error`` (default), ``warning``, ``unknown`` or ``never``.
``TorchCudaStack_ALLOW``
  Ids of findings that are accepted here.
``TorchCudaStack_SKIP``
  True: measure nothing, check nothing, and say so.
``TorchCudaStack_REPORT_DIR``, ``TorchCudaStack_TIMEOUT``, ``TorchCudaStack_CACHE_DIR``
  Where the reports go; seconds that one probe may take; where the per-user cache lies, or ``OFF``.
``TorchCudaStack_LANG``
  Of what is printed: ``zh``, Simplified Chinese, or ``en``; else the locale's (LC_ALL, LC_MESSAGES, LANG).
``TorchCudaStack_HOST_CXX``
  The C++ compiler that compiles the tool, where no prebuilt one is used.
``TorchCudaStack_TOOL``
  A prebuilt ``tcstack`` to use.

``TORCH_CUDA_ARCH_LIST``, ``CMAKE_CUDA_ARCHITECTURES``, ``CUDAARCHS``, ``CMAKE_CUDA_COMPILER``,
``CMAKE_CUDA_HOST_COMPILER``, ``CUDA_TOOLKIT_ROOT_DIR``, ``CUDAToolkit_ROOT``, ``Torch_DIR``, ``Torch_ROOT``,
``Python_EXECUTABLE`` are honoured where you set them, checked, and never rewritten.

Result Variables
^^^^^^^^^^^^^^^^

``TorchCudaStack_FOUND``, ``TorchCudaStack_VERSION``
  Whether no finding reached ``TorchCudaStack_FAIL_ON``; the version of this package.
``TorchCudaStack_STATUS``, ``TorchCudaStack_<Component>_STATUS``
  ``ok``, ``warn``, ``fail``, ``unknown`` or ``absent``.
``TorchCudaStack_<Component>_FOUND``
  False only when a finding of that layer reaches ``TorchCudaStack_FAIL_ON``.
``TorchCudaStack_TORCH_CUDA_ARCH_LIST``, ``TorchCudaStack_GENCODE_FLAGS``, ``TorchCudaStack_CUDA_ARCHITECTURES``
  The plan in the words of PyTorch, nvcc and CMake.
``TorchCudaStack_CUDA_COMPILER``, ``TorchCudaStack_CUDA_HOST_COMPILER``, ``TorchCudaStack_TOOLKIT_ROOT``
  The toolkit of this build.
``TorchCudaStack_TORCH_VERSION``, ``TorchCudaStack_TORCH_CUDA_VERSION``
  The PyTorch of this build.
``TorchCudaStack_LINK_MODULE``
  The file to install beside the config of a library that links our targets, so that it can be found without this package.
``TorchCudaStack_FINDINGS``, ``TorchCudaStack_REPORT_JSON``, ``TorchCudaStack_FACTS_JSON``
  Ids of the findings; where the report and the measured facts lie.
``TorchCudaStack_AVAILABILITY``
  Images that something is known of: those of the plan, those that were built or tried, those of the visible devices; as
  ``sm_90;compute_90``. For each of them, ``sm_90`` here:

  ``TorchCudaStack_sm_90_BUILDS``
    ``built``, ``refused`` or ``wrong``: nvcc was asked to. ``listed`` or ``unlisted``: as it says. ``unknown``.
  ``TorchCudaStack_sm_90_TORCH``
    ``full`` or ``part``: PyTorch's kernels hold it, all or some. ``listed``: it is there, not counted. ``served``: another
    image of PyTorch runs on such devices. ``ptx``, ``cross-tegra``, ``none``, ``absent`` or ``unknown``.
  ``TorchCudaStack_sm_90_DEVICES``
    An entry for each visible device, in the order of their numbers: ``runs``, ``refused``, ``wrong``, ``crash`` or
    ``hang`` where it was tried there; else ``untried-`` and what the rules say: ``cubin`` or ``ptx`` (it should run),
    ``cross-tegra`` (it may), ``none`` (it cannot), ``unknown``.

``TORCH_CUDA_ARCH_LIST``, ``CMAKE_CUDA_COMPILER``, ``CMAKE_CUDA_HOST_COMPILER``, ``CUDA_HOST_COMPILER``,
``CUDA_TOOLKIT_ROOT_DIR``, ``CUDAToolkit_ROOT`` and ``Torch_DIR`` are set as normal variables where you did not set them.

Imported Targets
^^^^^^^^^^^^^^^^

``TorchCudaStack::Torch``
  PyTorch, found by ``find_package(Torch)`` with what this PyTorch, CMake and toolkit need repaired; made where a C++
  compiler is enabled and the Torch component is asked for.
``TorchCudaStack::Archs``
  The plan's ``-gencode`` flags that ``CMAKE_CUDA_FLAGS`` lacks. ``TorchCudaStack::Torch`` links it. Where it is used
  without PyTorch, set ``CUDA_ARCHITECTURES`` of the target to ``OFF``: nvcc builds the union.
``TorchCudaStack::tcstack``
  The tool, as an executable.

Commands
^^^^^^^^

.. command:: torch_cuda_stack_add_extension

  ``torch_cuda_stack_add_extension(<name> SOURCES <file>... [LIBRARIES <item>...] [IMAGES <arch>...]
  [SOURCE_ARCHS <file> <arch>... [OPTIONAL] ...] [SOURCE_IMAGES <file> <arch>... ...] [NO_VERIFY])`` adds a Python module.

.. command:: torch_cuda_stack_intersect

  ``torch_cuda_stack_intersect(<out> ARCHS <arch>... [NAME <what>] [OPTIONAL | REQUIRED])`` says which of a source's
  architectures the plan needs: ``<out>``, ``<out>_GENCODE_FLAGS``, ``<out>_IMAGES``, ``<out>_UNSERVED``. That none is
  needed is a warning, an error (``REQUIRED``) or a line (``OPTIONAL``).

.. command:: torch_cuda_stack_source_archs

  ``torch_cuda_stack_source_archs(<target> <file> <arch>... [OPTIONAL] [<file> <arch>... [OPTIONAL]]...)`` compiles single
  sources for those of their architectures that the plan needs, all others for the plan.

.. command:: torch_cuda_stack_verify

  ``torch_cuda_stack_verify(<target> [IMAGES <arch>...] [SOURCE_IMAGES <file> <arch>... ...])`` checks after each link that the plan's images are in the
  code that the target compiled.
#]=======================================================================]

# One copy for a whole project, the first that was asked: functions of two versions would be mixed otherwise.
get_property(_tcs_first_copy GLOBAL PROPERTY TorchCudaStack_MODULES)
if(_tcs_first_copy AND NOT _tcs_first_copy STREQUAL CMAKE_CURRENT_LIST_DIR)
  include("${_tcs_first_copy}/FindTorchCudaStack.cmake")
  return()
endif()
unset(_tcs_first_copy)

include("${CMAKE_CURRENT_LIST_DIR}/TorchCudaStack/detail/_tcs_load.cmake")
_tcs_set_voice("${TorchCudaStack_FIND_QUIETLY}" "${TorchCudaStack_FIND_REQUIRED}")
if("${TorchCudaStack_FIND_COMPONENTS}" STREQUAL "Link")
  _tcs_find_link()
  return()
endif()

if(DEFINED CMAKE_CURRENT_FUNCTION)
  set(_tcs_lost WARNING)
  if(CMAKE_CXX_COMPILER_LOADED AND NOT CMAKE_CUDA_COMPILER_LOADED)
    set(_tcs_lost FATAL_ERROR) # CUDA would be enabled in here, and missing at generate
  endif()
  message(
    ${_tcs_lost}
    "find_package(TorchCudaStack) inside a function (${CMAKE_CURRENT_FUNCTION}): what it sets, the CUDA language "
    "included, is lost where the function ends. Call it in the directory of the targets or above."
  )
endif()

set(_tcs_dir "${CMAKE_CURRENT_BINARY_DIR}/TorchCudaStack")
set(_tcs_more "")
_tcs_setting(_tcs_skipped SKIP)
_tcs_refusal(_tcs_reason)
if(_tcs_reason OR _tcs_skipped)
  set(_tcs_tool "")
else()
  if("${_tcs_torch_dir}" STREQUAL "")
    unset(_tcs_plan_inputs) # the gate's plan does not ask for a PyTorch, this call may
  endif()
  _tcs_measure()
endif()

if(_tcs_reason)
  _tcs_remember(unused "")
elseif(_tcs_skipped)
  _tcs_skip()
  _tcs_remember(skipped "")
else()
  _tcs_remember(used "${_tcs_plan_dir}")
endif()

if(_tcs_reason AND TorchCudaStack_FIND_REQUIRED)
  message(FATAL_ERROR "TorchCudaStack: ${_tcs_reason}")
elseif(_tcs_reason)
  message(${_tcs_say_status} "TorchCudaStack not used: ${_tcs_reason}")
endif()
# Everything was said, so FPHSA only speaks of versions and components.
set(_tcs_quietly "${TorchCudaStack_FIND_QUIETLY}")
set(TorchCudaStack_FIND_QUIETLY TRUE)
set(_tcs_usable TRUE)
if(_tcs_reason)
  set(_tcs_usable FALSE)
endif()
find_package_handle_standard_args(
  TorchCudaStack
  REQUIRED_VARS _tcs_usable
  VERSION_VAR TorchCudaStack_VERSION
  HANDLE_VERSION_RANGE
  HANDLE_COMPONENTS
)
set(TorchCudaStack_FIND_QUIETLY "${_tcs_quietly}")

if(TorchCudaStack_FOUND)
  _tcs_setting(_tcs_replayed FACTS)
  if(_tcs_skipped OR "${_tcs_replayed}" STREQUAL "")
    _tcs_apply_choices()
    _tcs_apply_torch()
  endif()
  _tcs_make_targets("${_tcs_tool}")
  if("Link" IN_LIST TorchCudaStack_FIND_COMPONENTS)
    _tcs_call_link()
  endif()
else()
  _tcs_remember(unused "")
endif()
