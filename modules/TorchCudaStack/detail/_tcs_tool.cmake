# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)

# The tool to run: the one named, the one installed with this package, the one that this build tree has, that of the
# user's cache, one compiled now.
function(_tcs_find_tool out reason)
  set(${out} "" PARENT_SCOPE)
  set(${reason} "" PARENT_SCOPE)
  _tcs_setting(named TOOL)
  if(NOT named STREQUAL "")
    if(NOT EXISTS "${named}" OR IS_DIRECTORY "${named}")
      message(FATAL_ERROR "TorchCudaStack_TOOL is no program: ${named}")
    endif()
    set(${out} "${named}" PARENT_SCOPE)
    return()
  endif()
  if(_TorchCudaStack_INSTALLED_TOOL AND EXISTS "${_TorchCudaStack_INSTALLED_TOOL}")
    set(${out} "${_TorchCudaStack_INSTALLED_TOOL}" PARENT_SCOPE)
    return()
  endif()

  _tcs_host_compilers(compiler)
  if(compiler_COUNT EQUAL 0)
    set(
      ${reason}
      "no C++ compiler to build its tool with: set TorchCudaStack_HOST_CXX, or TorchCudaStack_TOOL to a prebuilt tcstack"
      PARENT_SCOPE
    )
    return()
  endif()
  _tcs_user_cache(cache)
  set(own "${CMAKE_BINARY_DIR}/TorchCudaStack/tcstack")
  _tcs_core_content(content)
  math(EXPR last "${compiler_COUNT} - 1")
  set(keys "")
  foreach(n RANGE ${last})
    _tcs_core_key(compiler_${n}_KEY "${content}" "${compiler_${n}}")
    list(APPEND keys "${compiler_${n}_KEY}")
  endforeach()
  if(EXISTS "${own}" AND EXISTS "${own}.key")
    file(READ "${own}.key" seen)
    _tcs_is_sound(sound "${own}")
    if(seen STREQUAL keys AND sound)
      set(${out} "${own}" PARENT_SCOPE)
      return()
    endif()
  endif()
  _tcs_make_core(tool "${cache}" problem)
  if(NOT tool)
    set(${reason} "its tool could not be compiled:\n${problem}" PARENT_SCOPE)
    return()
  endif()
  # The build steps of this tree name this one: clearing or trimming the cache takes nothing from them.
  file(CREATE_LINK "${tool}" "${own}" RESULT lost COPY_ON_ERROR)
  _tcs_is_sound(sound "${own}") # not where the build tree may not hold programs
  if(sound AND lost STREQUAL "0")
    file(WRITE "${own}.key" "${keys}")
    set(tool "${own}")
  endif()
  set(${out} "${tool}" PARENT_SCOPE)
endfunction()

# The tool of one of the compilers of _tcs_host_compilers(), in the user's cache, or in the build tree where that cannot
# be written. `why` is the first compiler's failure: the others say the same of the same sources.
function(_tcs_make_core out cache why)
  set(${out} "" PARENT_SCOPE)
  set(${why} "" PARENT_SCOPE)
  set(said "")
  foreach(n RANGE ${last})
    foreach(base IN ITEMS "${cache}" "${CMAKE_BINARY_DIR}/TorchCudaStack/cache")
      if(base STREQUAL "")
        continue()
      endif()
      _tcs_core_in("${base}" "${compiler_${n}_KEY}" "${compiler_${n}}" tool problem fault)
      if(tool)
        set(${out} "${tool}" PARENT_SCOPE)
        return()
      endif()
      if(said STREQUAL "" OR fault STREQUAL "folder")
        string(APPEND said "${problem}\n")
      endif()
      if(NOT fault STREQUAL "folder")
        break() # the compiler's verdict is the same in another folder
      endif()
    endforeach()
  endforeach()
  if(last GREATER 0)
    string(
      APPEND said
      "  ${last} other C++ compilers were tried; name one with TorchCudaStack_HOST_CXX"
    )
  endif()
  set(${why} "${said}" PARENT_SCOPE)
endfunction()
