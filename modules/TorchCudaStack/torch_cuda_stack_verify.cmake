# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)

#[=======================================================================[.rst:
torch_cuda_stack_verify
-----------------------

.. code-block:: cmake

  torch_cuda_stack_verify(<target> [IMAGES <arch>...] [SOURCE_IMAGES <file> <arch>... [<file> <arch>...]...])

After each link of ``<target>`` (a library or an executable of this directory) its kernel images are compared with the
plan, and the link fails where one is missing from code that the target itself compiled. Images of linked archives are
listed, not judged. ``IMAGES`` declares another set than the plan's, e.g. ``IMAGES sm_90a``; ``SOURCE_IMAGES`` does so
for single sources: ``SOURCE_IMAGES hopper.cu sm_90a blackwell.cu sm_100a sm_103a``. The CUDA libraries that the target
needs must be of the majors that PyTorch loads.
#]=======================================================================]
function(torch_cuda_stack_verify target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "IMAGES;SOURCE_IMAGES")
  if(arg_UNPARSED_ARGUMENTS)
    message(
      FATAL_ERROR
      "torch_cuda_stack_verify(${target}): unknown argument ${arg_UNPARSED_ARGUMENTS}"
    )
  endif()
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "torch_cuda_stack_verify(${target}): there is no target of that name")
  endif()
  get_target_property(aliased "${target}" ALIASED_TARGET)
  if(aliased)
    message(FATAL_ERROR "torch_cuda_stack_verify(${target}): it is an alias; verify ${aliased}")
  endif()
  get_target_property(imported "${target}" IMPORTED)
  if(imported)
    message(
      FATAL_ERROR
      "torch_cuda_stack_verify(${target}): it is imported, nothing of it is built here"
    )
  endif()
  get_target_property(type "${target}" TYPE)
  if(NOT type MATCHES "^((SHARED|MODULE|STATIC)_LIBRARY|EXECUTABLE)$")
    message(
      FATAL_ERROR
      "torch_cuda_stack_verify(${target}): a target of type ${type} has no file to look into; verify what links it"
    )
  endif()
  get_target_property(directory "${target}" SOURCE_DIR)
  if(NOT directory STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    message(
      FATAL_ERROR
      "torch_cuda_stack_verify(${target}): call it in ${directory}, where the target is made; "
      "CMake attaches no step to a target of another directory"
    )
  endif()
  get_property(state DIRECTORY PROPERTY TorchCudaStack_STATE)
  if(state STREQUAL "skipped")
    return() # said already
  elseif(state STREQUAL "unused")
    message(
      STATUS
      "TorchCudaStack: ${target} is not verified, find_package(TorchCudaStack) found nothing"
    )
    return()
  elseif(NOT TARGET TorchCudaStack::tcstack)
    message(
      FATAL_ERROR
      "torch_cuda_stack_verify(${target}): there is no find_package(TorchCudaStack) in this directory or above it"
    )
  endif()

  set_property(TARGET "${target}" PROPERTY TorchCudaStack_VERIFIED TRUE)
  get_property(sets TARGET "${target}" PROPERTY TorchCudaStack_SOURCE_IMAGES)
  list(APPEND arg_SOURCE_IMAGES ${sets})
  _tcs_read_source_images("${target}" "${arg_SOURCE_IMAGES}")
  set(filter "")
  foreach(n IN LISTS sets)
    _tcs_verify_step("${target}" "-${n}" "INCLUDE,${pattern_${n}}" "${images_${n}}")
    list(APPEND filter "${pattern_${n}}")
  endforeach()
  list(JOIN filter "|" filter)
  if(NOT filter STREQUAL "")
    set(filter "EXCLUDE,${filter}")
  endif()
  _tcs_verify_step("${target}" "" "${filter}" "${arg_IMAGES}")
endfunction()

# `<file> <arch>... <file> <arch>...`: sets `sets` (numbers), pattern_<n> of the object's name and images_<n>.
function(_tcs_read_source_images target words)
  set(refused "torch_cuda_stack_verify(${target}): SOURCE_IMAGES")
  set(sets "")
  set(files "")
  set(n 0)
  foreach(word IN LISTS words ITEMS "")
    if(word MATCHES "^(sm|compute)_[0-9]+[af]?$")
      if(n EQUAL 0)
        message(FATAL_ERROR "${refused} starts with ${word}; expected a file")
      endif()
      list(APPEND images_${n} "${word}")
      continue()
    endif()
    if(n GREATER 0)
      if("${images_${n}}" STREQUAL "")
        list(GET files -1 file)
        message(FATAL_ERROR "${refused} ${file} names no image such as sm_90a")
      endif()
      list(APPEND sets ${n})
      set(pattern_${n} "${pattern_${n}}" PARENT_SCOPE)
      set(images_${n} "${images_${n}}" PARENT_SCOPE)
    endif()
    if(NOT word STREQUAL "")
      math(EXPR n "${n} + 1")
      get_filename_component(path "${word}" ABSOLUTE)
      list(APPEND files "${path}")
      get_filename_component(name "${word}" NAME)
      # What a generator expression or a regular expression cannot hold, and what CMake makes '_' of, is any character.
      string(REGEX REPLACE "[^A-Za-z0-9_.+=@~-]" "?" name "${name}")
      string(REGEX REPLACE "([.+=@~-])" "[\\1]" name "${name}")
      string(REPLACE "?" "." name "${name}")
      set(pattern_${n} "/${name}[.]o(bj)?$")
      set(images_${n} "")
    endif()
  endforeach()
  _tcs_match_sources("${target}" "${refused}" "${files}")
  set(sets "${sets}" PARENT_SCOPE)
endfunction()

# Each of `files` (whole paths) must be one source of the target that no other shares its name with: objects are told apart
# by it.
function(_tcs_match_sources target refused files)
  get_target_property(sources "${target}" SOURCES)
  set(known "")
  set(names "")
  foreach(source IN LISTS sources)
    get_filename_component(path "${source}" ABSOLUTE)
    get_filename_component(name "${source}" NAME)
    list(APPEND known "${path}")
    list(APPEND names "${name}")
  endforeach()
  foreach(file IN LISTS files)
    if(NOT file IN_LIST known)
      message(FATAL_ERROR "${refused} ${file} is no source of the target")
    endif()
    get_filename_component(name "${file}" NAME)
    list(FIND names "${name}" first)
    list(REMOVE_AT names ${first})
    if(name IN_LIST names)
      message(FATAL_ERROR "${refused} two sources are named ${name}: give one another name")
    endif()
    list(APPEND names "${name}")
  endforeach()
  get_target_property(unity "${target}" UNITY_BUILD)
  if(files AND unity)
    message(FATAL_ERROR "${refused} needs an object for each source: set UNITY_BUILD OFF")
  endif()
endfunction()

# One call of the tool after the link: the objects that pass the filter, against the images, or the plan's where none are
# named.
function(_tcs_verify_step target suffix filter images)
  get_property(dir DIRECTORY PROPERTY TorchCudaStack_DIR)
  get_property(facts DIRECTORY PROPERTY TorchCudaStack_FACTS)
  set(
    list
    "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/tcs-objects-$<CONFIG>${suffix}.txt"
  )
  set(objects "$<TARGET_OBJECTS:${target}>")
  if(NOT filter STREQUAL "")
    set(objects "$<FILTER:${objects},${filter}>")
  endif()
  file(GENERATE OUTPUT "${list}" CONTENT "$<JOIN:${objects},\n>\n")
  set(options "")
  if(NOT images STREQUAL "")
    list(JOIN images "$<SEMICOLON>" images)
    list(APPEND options --images "${images}")
  endif()
  if(NOT facts STREQUAL "")
    list(APPEND options --facts "${facts}")
  endif()
  if(filter MATCHES "^EXCLUDE") # these objects may be of C++ alone
    list(APPEND options --rest)
  endif()
  add_custom_command(
    TARGET "${target}"
    POST_BUILD
    COMMAND
      TorchCudaStack::tcstack verify "$<TARGET_FILE:${target}>" --plan "${dir}/plan.json" --objects
      "${list}" ${options}
    COMMENT "Verifying the kernel images of ${target}"
    VERBATIM
  )
endfunction()
