# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)

#[=======================================================================[.rst:
torch_cuda_stack_source_archs
-----------------------------

.. code-block:: cmake

  torch_cuda_stack_source_archs(<target> <file> <arch>... [OPTIONAL] [<file> <arch>... [OPTIONAL]]...)

The ``.cu`` files named are compiled for those of their architectures that the plan needs (as
:command:`torch_cuda_stack_intersect` has it), all other sources of ``<target>`` for the plan. Where the plan needs none of
a file's architectures it is an error; with ``OPTIONAL`` behind them the file is left out of the target. Call it in the
directory of the target, before :command:`torch_cuda_stack_verify`, which then expects exactly that.

nvcc builds the union of all ``-gencode`` flags. So at the end of a directory where this is used, those of the plan leave
its ``CMAKE_CUDA_FLAGS`` and are handed to its targets and sources one by one; what was added with ``add_subdirectory()``
is not touched.
#]=======================================================================]
function(torch_cuda_stack_source_archs target)
  set(who "torch_cuda_stack_source_archs(${target})")
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "${who}: there is no target of that name")
  endif()
  get_target_property(directory "${target}" SOURCE_DIR)
  get_target_property(aliased "${target}" ALIASED_TARGET)
  get_target_property(imported "${target}" IMPORTED)
  get_target_property(type "${target}" TYPE)
  get_target_property(verified "${target}" TorchCudaStack_VERIFIED)
  if(aliased)
    message(FATAL_ERROR "${who}: it is an alias; name ${aliased}")
  elseif(NOT type MATCHES "^((STATIC|SHARED|MODULE|OBJECT)_LIBRARY|EXECUTABLE)$" OR imported)
    message(
      FATAL_ERROR
      "${who}: it compiles nothing here; name the target that compiles the sources"
    )
  elseif(NOT directory STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    message(FATAL_ERROR "${who}: call it in ${directory}, where the target is made")
  elseif(verified)
    message(FATAL_ERROR "${who}: call it before torch_cuda_stack_verify(${target})")
  endif()
  get_property(state DIRECTORY PROPERTY TorchCudaStack_STATE)
  if(state MATCHES "^(skipped|unused)$")
    message(
      STATUS
      "TorchCudaStack: ${target} is compiled without architectures of single sources, there is no plan"
    )
    return()
  endif()

  get_target_property(sources "${target}" SOURCES)
  set(paths "")
  foreach(source IN LISTS sources)
    get_filename_component(path "${source}" ABSOLUTE)
    list(APPEND paths "${path}")
  endforeach()
  set(n 0)
  foreach(word IN LISTS ARGN)
    get_filename_component(path "${word}" ABSOLUTE)
    if(path IN_LIST paths)
      math(EXPR n "${n} + 1")
      set(file_${n} "${word}")
      set(archs_${n} "")
      set(kind_${n} FATAL_ERROR)
    elseif(n EQUAL 0 OR word MATCHES "/|[.]c[a-z]+$")
      message(FATAL_ERROR "${who}: ${word} is no source of the target; name it as the target does")
    elseif(word STREQUAL "OPTIONAL")
      set(kind_${n} STATUS)
    else()
      list(APPEND archs_${n} "${word}")
    endif()
  endforeach()
  if(n EQUAL 0)
    message(FATAL_ERROR "${who}: names no file")
  endif()
  foreach(i RANGE 1 ${n})
    if("${archs_${i}}" STREQUAL "")
      message(FATAL_ERROR "${who}: ${file_${i}} has no architecture behind it")
    endif()
    _tcs_intersect("${who}" "${file_${i}}" "${archs_${i}}" ${kind_${i}})
    _tcs_take_source("${target}" "${who}" "${file_${i}}" "${_tcs_gencode}" "${_tcs_images}")
  endforeach()
endfunction()

# One source and its flags; without flags it leaves the target.
function(
  _tcs_take_source
  target
  who
  file
  flags
  images
)
  get_filename_component(path "${file}" ABSOLUTE)
  if("${flags}" STREQUAL "")
    get_target_property(sources "${target}" SOURCES)
    set(kept "")
    foreach(source IN LISTS sources)
      get_filename_component(other "${source}" ABSOLUTE)
      if(NOT other STREQUAL path)
        list(APPEND kept "${source}")
      endif()
    endforeach()
    if("${kept}" STREQUAL "")
      message(
        FATAL_ERROR
        "${who}: without ${file} it has no source; make it only where torch_cuda_stack_intersect() says that it is needed"
      )
    endif()
    set_property(TARGET "${target}" PROPERTY SOURCES "${kept}")
    message(STATUS "TorchCudaStack: ${target} is built without ${file}")
    return()
  endif()
  get_target_property(taken "${target}" TorchCudaStack_SOURCE_ARCHS)
  if(path IN_LIST taken)
    message(FATAL_ERROR "${who}: ${file} is named twice")
  endif()
  set_property(TARGET "${target}" APPEND PROPERTY TorchCudaStack_SOURCE_ARCHS "${path}")
  set_property(TARGET "${target}" APPEND PROPERTY TorchCudaStack_SOURCE_IMAGES "${path}" ${images})
  _tcs_add_source_flags("${target}" "${file}" "${flags}")
  get_property(begun DIRECTORY PROPERTY TorchCudaStack_SETTLES)
  if(NOT begun)
    set_property(DIRECTORY PROPERTY TorchCudaStack_SETTLES TRUE)
    cmake_language(DEFER CALL _tcs_settle_source_archs)
  endif()
endfunction()

# A source of two targets has one set of properties: which target it is compiled for decides.
function(_tcs_add_source_flags target file flags)
  foreach(flag IN LISTS flags)
    set_property(
      SOURCE "${file}"
      APPEND
      PROPERTY COMPILE_OPTIONS "$<$<STREQUAL:$<TARGET_PROPERTY:NAME>,${target}>:${flag}>"
    )
  endforeach()
endfunction()

# At the end of the directory, in its scope: CMAKE_CUDA_FLAGS as they are then count for all of its targets.
macro(_tcs_settle_source_archs)
  get_property(_tcs_plan TARGET TorchCudaStack::Archs PROPERTY TorchCudaStack_PLAN)
  _tcs_split_flags(CMAKE_CUDA_FLAGS _tcs_taken "${_tcs_plan}")
  _tcs_hand_out_flags("${_tcs_plan}" "${_tcs_taken}")
  unset(_tcs_plan)
  unset(_tcs_taken)
endmacro()

# Takes the plan's -gencode flags out of a text of flags, into a list of pairs.
function(_tcs_split_flags flags taken plan)
  _tcs_gencode_pairs(pairs "${plan}")
  _tcs_gencode_pairs(present "${${flags}}")
  set(found "")
  set(text "${${flags}} ")
  foreach(pair IN LISTS pairs)
    if(pair IN_LIST present)
      list(APPEND found "${pair}")
    endif()
    foreach(option IN ITEMS "-gencode " "-gencode=" "--generate-code " "--generate-code=")
      string(REPLACE "${option}${pair} " "" text "${text}")
      string(REPLACE "${option}\"${pair}\" " "" text "${text}")
    endforeach()
  endforeach()
  string(REGEX REPLACE " $" "" text "${text}")
  set(${flags} "${text}" PARENT_SCOPE)
  set(${taken} "${found}" PARENT_SCOPE)
endfunction()

# Each target gets the flags that were taken from its directory; of one with sets of single sources its other sources get
# the plan's.
function(_tcs_hand_out_flags plan taken)
  get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type "${target}" TYPE)
    if(NOT type MATCHES "^((STATIC|SHARED|MODULE|OBJECT)_LIBRARY|EXECUTABLE)$")
      continue()
    endif()
    get_target_property(own "${target}" TorchCudaStack_SOURCE_ARCHS)
    if(own)
      _tcs_settle_target("${target}" "${own}" "${plan}")
    endif()
    foreach(pair IN LISTS taken)
      if(NOT own)
        set_property(
          TARGET "${target}"
          APPEND
          PROPERTY COMPILE_OPTIONS "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:SHELL:-gencode ${pair}>"
        )
      endif()
      string(REPLACE "," "$<COMMA>" pair "${pair}")
      set_property(
        TARGET "${target}"
        APPEND
        PROPERTY LINK_OPTIONS "$<DEVICE_LINK:SHELL:-gencode ${pair}>"
      )
    endforeach()
  endforeach()
endfunction()

# CMake (3.25) stops where the language is asked of a source that is not there (yet), as of $<TARGET_OBJECTS:...>.
function(_tcs_is_cuda out source)
  get_filename_component(path "${source}" ABSOLUTE)
  set(language "")
  if(source MATCHES "[.]cu$")
    set(language CUDA)
  elseif(NOT source MATCHES "[$]<")
    get_property(generated SOURCE "${source}" PROPERTY GENERATED)
    if(generated OR EXISTS "${path}")
      get_property(language SOURCE "${source}" PROPERTY LANGUAGE)
    endif()
  endif()
  string(COMPARE EQUAL "${language}" CUDA is_cuda)
  set(${out} ${is_cuda} PARENT_SCOPE)
endfunction()

function(_tcs_settle_target target own plan)
  set(who "torch_cuda_stack_source_archs(${target})")
  foreach(name IN ITEMS UNITY_BUILD CUDA_SEPARABLE_COMPILATION)
    get_target_property(value "${target}" ${name})
    if(value)
      message(
        FATAL_ERROR
        "${who}: ${name} makes one of several sources, which have one set of architectures; set it OFF for ${target}"
      )
    endif()
  endforeach()
  get_target_property(sources "${target}" SOURCES)
  foreach(source IN LISTS sources)
    if(source MATCHES "^[$]<" AND NOT source MATCHES "^[$]<TARGET_OBJECTS:")
      message(FATAL_ERROR "${who}: ${source} hides sources; name them")
    endif()
    get_filename_component(path "${source}" ABSOLUTE)
    _tcs_is_cuda(is_cuda "${source}")
    if(is_cuda AND NOT path IN_LIST own)
      _tcs_add_source_flags("${target}" "${source}" "${plan}")
    endif()
  endforeach()
  set_target_properties("${target}" PROPERTIES CUDA_ARCHITECTURES OFF)
endfunction()
