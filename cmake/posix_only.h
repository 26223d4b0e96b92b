// What C++ libraries call, and the system's headers hide from files that ask for POSIX of 2008 alone.
#pragma once
#include <locale.h>
#include <pthread.h>
#include <stdarg.h>
#include <time.h>

extern "C" {
int pthread_cond_clockwait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
int pthread_mutex_clocklock(pthread_mutex_t*, clockid_t, const struct timespec*) noexcept;
int vasprintf(char**, const char*, va_list) noexcept;
double strtod_l(const char*, char**, locale_t) noexcept;
float strtof_l(const char*, char**, locale_t) noexcept;
long double strtold_l(const char*, char**, locale_t) noexcept;
long long strtoll_l(const char*, char**, int, locale_t) noexcept;
unsigned long long strtoull_l(const char*, char**, int, locale_t) noexcept;
}
