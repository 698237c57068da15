/* SPDX-License-Identifier: Apache-2.0
 * launch TIMES COMMAND...: the least and the median wall-clock seconds, the largest resident KB,
 * the exit status and the least seconds of processor time of a command. A process of its own,
 * because a child of Python counts Python's memory as its own. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double of(struct timeval t) {
  return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  const int times = argc > 2 ? atoi(argv[1]) : 0;
  if (times < 1) return 2;
  double* seconds = malloc(sizeof(double) * (size_t)times);
  double least_cpu = 1e9;
  long largest = 0;
  int status = 0;
  for (int i = 0; i < times; ++i) {
    const double start = now();
    const pid_t child = fork();
    if (child == 0) {
      const int null = open("/dev/null", O_RDWR);
      for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
      execvp(argv[2], argv + 2);
      _exit(127);
    }
    struct rusage usage;
    wait4(child, &status, 0, &usage);
    seconds[i] = now() - start;
    if (usage.ru_maxrss > largest) largest = usage.ru_maxrss;
    const double cpu = of(usage.ru_utime) + of(usage.ru_stime);
    if (cpu < least_cpu) least_cpu = cpu;
  }
  qsort(seconds, (size_t)times, sizeof(double), by_value);
  printf("%.6f %.6f %ld %d %.6f\n", seconds[0], seconds[times / 2], largest,
         WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), least_cpu);
  return 0;
}
