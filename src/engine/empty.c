// SPDX-License-Identifier: MIT
typedef int tacho_engine_empty;
