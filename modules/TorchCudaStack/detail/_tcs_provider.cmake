# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)

# The gate's dependency provider. Read under the policies of the project, which rule what these macros call: nothing here
# may need a policy. Macros, because results belong into the caller's scope.

macro(_tcs_provide _tcs_method _tcs_package)
  if("${_tcs_method}.${_tcs_package}.${_tcs_calling_torch}" MATCHES "^FIND_PACKAGE[.]Torch[.]$")
    _tcs_gate_torch(${ARGN})
  elseif(_tcs_other_provider)
    cmake_language(CALL ${_tcs_other_provider} "${_tcs_method}" "${_tcs_package}" ${ARGN})
  elseif(${_tcs_package}_FOUND)
    # Found before, and asked again, perhaps for other components: CMake would take the old result for a provider's.
    _tcs_find_as_always("${_tcs_package}" ${ARGN})
  endif() # else CMake goes on by itself
endmacro()

macro(_tcs_find_as_always)
  find_package(${ARGN} BYPASS_PROVIDER)
endmacro()
