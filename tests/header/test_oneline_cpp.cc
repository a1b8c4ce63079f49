// SPDX-License-Identifier: MIT
#include "test_oneline.c"
