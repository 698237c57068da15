# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)

# Where the C++ sources of the tool lie, seen from here: beside modules/, in a checkout, an install and a copied folder.
get_filename_component(_tcs_sources "${CMAKE_CURRENT_LIST_DIR}/../../../probe-src" ABSOLUTE)
set_property(GLOBAL PROPERTY TorchCudaStack_SOURCES "${_tcs_sources}")
unset(_tcs_sources)

# The host compilers to try, each a command line as a list, one a variable <prefix>_<n>; <prefix>_COUNT tells how many.
function(_tcs_host_compilers prefix)
  set(count 0)
  set(real_paths "")
  _tcs_setting(named HOST_CXX)
  set(
    candidates
    named
    ENV
    CMAKE_CXX_COMPILER
    c++
    g++
    clang++
  )
  if(named)
    set(candidates named)
  endif()
  foreach(candidate IN LISTS candidates)
    if(candidate STREQUAL "named")
      set(words "${named}")
      if(NOT EXISTS "${named}")
        separate_arguments(words UNIX_COMMAND "${named}")
      endif()
    elseif(candidate STREQUAL "ENV")
      separate_arguments(words UNIX_COMMAND "$ENV{CXX}") # "ccache g++" is two words
    elseif(candidate STREQUAL "CMAKE_CXX_COMPILER")
      set(words "${CMAKE_CXX_COMPILER}")
      if(CMAKE_CROSSCOMPILING)
        set(words "")
      endif()
    else()
      set(words "${candidate}")
    endif()
    if(words STREQUAL "")
      continue()
    endif()
    list(POP_FRONT words program)
    unset(found)
    find_program(found NAMES "${program}" NO_CACHE NO_CMAKE_FIND_ROOT_PATH)
    if(found)
      file(REAL_PATH "${found}" real)
      if("${words}" STREQUAL "" AND real IN_LIST real_paths)
        continue() # c++ and g++ are one program
      endif()
      list(APPEND real_paths "${real}")
      set(${prefix}_${count} "${found}" ${words})
      set(${prefix}_${count} "${${prefix}_${count}}" PARENT_SCOPE)
      math(EXPR count "${count} + 1")
    endif()
  endforeach()
  set(${prefix}_COUNT ${count} PARENT_SCOPE)
endfunction()

# The folder for what a user's projects share, else "". Programs are run from it: one that somebody else could have
# written to is not used. It is read as the tool reads it.
function(_tcs_user_cache out)
  set(${out} "" PARENT_SCOPE)
  _tcs_setting(dir CACHE_DIR)
  string(TOUPPER "${dir}" word)
  if(word MATCHES "^(OFF|NO|FALSE|0)$")
    return()
  endif()
  if(NOT dir STREQUAL "" AND NOT IS_ABSOLUTE "${dir}")
    message(
      FATAL_ERROR
      "TorchCudaStack_CACHE_DIR is no absolute path: ${dir}\n  help: a whole path, or OFF\n"
    )
  endif()
  if(dir STREQUAL "" AND IS_ABSOLUTE "$ENV{XDG_CACHE_HOME}")
    set(dir "$ENV{XDG_CACHE_HOME}/torch-cuda-stack")
  elseif(dir STREQUAL "" AND IS_ABSOLUTE "$ENV{HOME}")
    set(dir "$ENV{HOME}/.cache/torch-cuda-stack")
  endif()
  set(${out} "${dir}" PARENT_SCOPE)
endfunction()

# False where a folder of the cache, or the program in it, is another user's, or others may write to it.
function(_tcs_is_trusted trusted base final)
  set(
    check
    [=[for d; do [ -e "$d" ] || continue; [ -O "$d" ] && [ -z "$(find -H "$d" -prune -perm /022)" ] || exit 1; done]=]
  )
  execute_process(
    COMMAND sh -c "${check}" sh "${base}" "${base}/core" "${final}" "${final}/tcstack-core"
    RESULT_VARIABLE failed
    OUTPUT_QUIET
    ERROR_QUIET
  )
  set(${trusted} TRUE PARENT_SCOPE)
  if(failed)
    set(${trusted} FALSE PARENT_SCOPE)
  endif()
endfunction()

# The source files of the tool, relative to `sources`, which may hold what file(GLOB) takes for a pattern.
function(_tcs_source_files out sources)
  string(REGEX REPLACE "([[*?])" "[\\1]" pattern "${sources}")
  file(GLOB_RECURSE files RELATIVE "${sources}" "${pattern}/*")
  list(FILTER files INCLUDE REGEX "[.](cpp|h|def|cu)$")
  list(SORT files)
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

# The first lines of a text, as they are.
function(_tcs_first_lines out text count)
  set(kept "")
  foreach(n RANGE 1 ${count})
    string(FIND "${text}" "\n" at)
    if(at EQUAL -1)
      string(APPEND kept "${text}")
      set(text "")
      break()
    endif()
    math(EXPR at "${at} + 1")
    string(SUBSTRING "${text}" 0 ${at} line)
    string(SUBSTRING "${text}" ${at} -1 text)
    string(APPEND kept "${line}")
  endforeach()
  if(NOT text STREQUAL "")
    string(APPEND kept "...")
  endif()
  set(${out} "${kept}" PARENT_SCOPE)
endfunction()

# How the tool is compiled: -O1 would take twice as long. It neither throws nor asks for types; what the compiler would
# write for that is a sixth of the time. Code that is loaded anywhere is longer.
set_property(
  GLOBAL
  PROPERTY
    TorchCudaStack_CORE_FLAGS
      -std=c++17
      -O0
      -g0
      -fno-exceptions
      -fno-rtti
      -fno-asynchronous-unwind-tables
      -fno-pie
)

# What would be compiled, but for the compiler: version, flags, content of the sources. Hashing them takes no longer than
# asking for their sizes and times would.
function(_tcs_core_content out)
  get_property(sources GLOBAL PROPERTY TorchCudaStack_SOURCES)
  get_property(flags GLOBAL PROPERTY TorchCudaStack_CORE_FLAGS)
  _tcs_source_files(files "${sources}")
  set(text "${TorchCudaStack_VERSION} ${flags}")
  foreach(file IN LISTS files)
    file(SHA256 "${sources}/${file}" hash)
    string(APPEND text "\n${file} ${hash}")
  endforeach()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# Key of the tool: the content and the compiler; "ccache g++" is two programs.
function(_tcs_core_key out content compiler)
  string(APPEND content "\n${compiler}")
  list(SUBLIST compiler 0 2 programs)
  foreach(program IN LISTS programs)
    unset(found)
    find_program(found NAMES "${program}" NO_CACHE NO_CMAKE_FIND_ROOT_PATH)
    if(found)
      file(REAL_PATH "${found}" real)
      file(TIMESTAMP "${real}" when "%s" UTC)
      file(SIZE "${real}" size)
      string(APPEND content "\n${real} ${when} ${size}")
    endif()
  endforeach()
  string(SHA256 key "${content}")
  string(SUBSTRING "${key}" 0 32 key)
  set(${out} "${key}" PARENT_SCOPE)
endfunction()

# `value` as a bracket argument that no content can leave: the only way to hand paths with semicolons or brackets to a
# command whose arguments are not known when this is written.
function(_tcs_quote out value)
  set(fence "=")
  string(FIND "${value}" "]${fence}]" at)
  while(NOT at EQUAL -1)
    string(APPEND fence "=")
    string(FIND "${value}" "]${fence}]" at)
  endwhile()
  set(${out} "[${fence}[${value}]${fence}]" PARENT_SCOPE)
endfunction()

# Compiles the sources into <folder>/tcstack-core. All units at once: the commands of one execute_process() run side by
# side (as a pipeline; a compiler neither reads nor writes it). `why` gets what went wrong, else "".
function(_tcs_compile_core folder compiler why)
  set(${why} "" PARENT_SCOPE)
  get_property(sources GLOBAL PROPERTY TorchCudaStack_SOURCES)
  _tcs_source_files(units "${sources}/unity")
  list(FILTER units INCLUDE REGEX "[.]cpp$")
  if(NOT units)
    set(${why} "  no C++ sources of the tool in ${sources}/unity" PARENT_SCOPE)
    return()
  endif()
  get_property(flags GLOBAL PROPERTY TorchCudaStack_CORE_FLAGS)
  list(JOIN flags " " flags)
  set(driver "")
  foreach(word IN LISTS compiler)
    _tcs_quote(word "${word}")
    string(APPEND driver " ${word}")
  endforeach()
  _tcs_quote(include "-I${sources}")
  _tcs_quote(version "-DTCS_VERSION=\"${TorchCudaStack_VERSION}\"")
  set(commands "")
  set(objects "")
  foreach(unit IN LISTS units)
    _tcs_quote(source "${sources}/unity/${unit}")
    string(
      APPEND commands
      " COMMAND ${driver} ${flags} ${version} ${include} -c ${source} -o \"${unit}.o\""
    )
    string(APPEND objects " \"${unit}.o\"")
  endforeach()
  _tcs_quote(where "${folder}")
  set(
    rest
    "WORKING_DIRECTORY ${where} TIMEOUT 600 RESULTS_VARIABLE results OUTPUT_VARIABLE output ERROR_VARIABLE output"
  )
  cmake_language(EVAL CODE "execute_process(${commands} ${rest})")
  list(REMOVE_DUPLICATES results)
  if(results STREQUAL "0")
    # With the C++ library inside, where the compiler can do that: the tool starts in half the time, and takes no other one
    # from LD_LIBRARY_PATH.
    foreach(inside IN ITEMS "-static-libstdc++ -static-libgcc" "")
      cmake_language(
        EVAL CODE
          "execute_process(COMMAND ${driver} ${objects} -no-pie ${inside} -o tcstack-core -ldl -pthread ${rest})"
      )
      if(results STREQUAL "0")
        break()
      endif()
    endforeach()
  endif()
  if(NOT results STREQUAL "0")
    list(JOIN compiler " " shown)
    _tcs_first_lines(output "${output}" 15)
    string(REPLACE "\n" "\n    " output "    ${output}")
    set(${why} "  ${shown} ended with ${results}\n${output}" PARENT_SCOPE)
    return()
  endif()
  foreach(unit IN LISTS units)
    file(REMOVE "${folder}/${unit}.o")
  endforeach()
endfunction()

# True where the file is the tool of this version: it runs and says so.
function(_tcs_is_sound out program)
  set(${out} FALSE PARENT_SCOPE)
  if(NOT EXISTS "${program}")
    return()
  endif()
  execute_process(
    COMMAND "${program}" --version
    RESULT_VARIABLE result
    OUTPUT_VARIABLE said
    ERROR_QUIET
    TIMEOUT 30
  )
  if(result STREQUAL "0" AND said STREQUAL "tcstack ${TorchCudaStack_VERSION}\n")
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()

# The tool for one compiler in one cache folder: there already, or compiled beside its place and renamed into it, so
# that any number of configures may do this at once.
function(
  _tcs_core_in
  base
  key
  compiler
  out
  why
  fault
)
  set(${out} "" PARENT_SCOPE)
  set(${why} "" PARENT_SCOPE)
  set(${fault} folder PARENT_SCOPE)
  set(final "${base}/core/${key}")
  _tcs_is_trusted(trusted "${base}" "${final}")
  if(NOT trusted)
    set(problem "${base} belongs to another user, or others may write to it")
    message(${_tcs_say_status} "TorchCudaStack: cache not used: ${problem}")
    set(${why} "  ${problem}" PARENT_SCOPE)
    return()
  endif()
  _tcs_is_sound(sound "${final}/tcstack-core")
  if(NOT sound AND EXISTS "${final}")
    file(REMOVE_RECURSE "${final}") # torn: a full disk, a crash
  elseif(sound)
    # The cache is trimmed by the time of last use.
    execute_process(
      COMMAND "${CMAKE_COMMAND}" -E touch_nocreate "${final}"
      OUTPUT_QUIET
      ERROR_QUIET
    )
    set(${out} "${final}/tcstack-core" PARENT_SCOPE)
    return()
  endif()
  string(RANDOM LENGTH 12 suffix)
  set(scratch "${base}/core/tmp-${suffix}")
  # Not file(MAKE_DIRECTORY): a cache that cannot be written is an answer here, not an error.
  execute_process(
    COMMAND sh -c "umask 077 && mkdir -p \"$1\" " sh "${scratch}"
    RESULT_VARIABLE failed
    OUTPUT_QUIET
    ERROR_QUIET
  )
  if(failed)
    set(${why} "  cannot write to ${base}" PARENT_SCOPE)
    return()
  endif()
  _tcs_compile_core("${scratch}" "${compiler}" problem)
  if(problem STREQUAL "")
    file(RENAME "${scratch}" "${final}" RESULT lost)
    if(EXISTS "${final}/tcstack-core") # ours, or that of another configure which was faster
      set(${out} "${final}/tcstack-core" PARENT_SCOPE)
    else()
      set(problem "  cannot put the compiled tool into ${final}: ${lost}")
    endif()
  elseif(NOT problem MATCHES "No space left|Read-only file system|quota exceeded")
    set(${fault} compiler PARENT_SCOPE)
  endif()
  set(${why} "${problem}" PARENT_SCOPE)
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${scratch}"
    OUTPUT_QUIET
    ERROR_QUIET
  )
endfunction()
