// What the C++ library's own headers call and the system's hide from programs that ask for POSIX of 2008: it is POSIX since 2024.
#pragma once
#include <pthread.h>
#include <time.h>

extern "C" {
int pthread_cond_clockwait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
int pthread_mutex_clocklock(pthread_mutex_t*, clockid_t, const struct timespec*);
}
