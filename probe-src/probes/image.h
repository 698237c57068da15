// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tries images on devices, one a line of `input`, until it ends: `library` is a libcuda whose
// cuInit has succeeded. Each line of input is answered by one of JSON on `answer`. False: nobody
// listens.
bool try_images(void* library, int input, int answer);
