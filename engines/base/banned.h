/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions nobody may call here, poisoned after the headers that declare them: no
 * bounds, no error report, or hidden state. Included before every source file by the
 * Makefile.
 */
#ifndef CP_ENGINES_BASE_BANNED_H
#define CP_ENGINES_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#pragma GCC poison strcpy strcat sprintf vsprintf gets strtok atoi atol atoll atof
#pragma GCC poison tmpnam tempnam mktemp asctime ctime gmtime localtime system popen
#pragma GCC poison usleep sleep

#endif
