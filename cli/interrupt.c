#include "interrupt.h"

#include "progress.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS 10000000L /* between looks at whether the work has noticed */
#define PATIENCE_LOOKS 100

static atomic_int seen; /* the signal, or 0 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *guarded; /* under the lock, as what follows */
static const char *made;    /* the directory around it, where that is ours; or NULL */

void remove_directory(const char *path) {
  DIR *directory = opendir(path);
  if (directory == NULL) return;
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    (void)unlinkat(dirfd(directory), entry->d_name, 0);
  }
  (void)closedir(directory);
  (void)rmdir(path);
}

static void remove_guarded(void) {
  remove_directory(guarded);
  if (made != NULL) (void)rmdir(made);
}

static void watched_signals(sigset_t *set) {
  (void)sigemptyset(set);
  (void)sigaddset(set, SIGINT);
  (void)sigaddset(set, SIGTERM);
  (void)sigaddset(set, SIGHUP);
}

static bool is_guarded(void) {
  (void)pthread_mutex_lock(&lock);
  bool guards = guarded != NULL;
  (void)pthread_mutex_unlock(&lock);
  return guards;
}

_Noreturn static void die_by(int number) {
  sigset_t set;
  progress_hide();
  (void)signal(number, SIG_DFL);
  (void)sigemptyset(&set);
  (void)sigaddset(&set, number);
  (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  (void)raise(number);
  _exit(128 + number);
}

static void *watch(void *unused) {
  (void)unused;
  sigset_t set;
  int number = 0;
  watched_signals(&set);
  if (sigwait(&set, &number) != 0) return NULL;
  atomic_store(&seen, number);
  for (int i = 0; i < PATIENCE_LOOKS; i++) {
    const struct timespec pause = {0, PATIENCE_NS};
    if (!is_guarded()) return NULL;
    (void)nanosleep(&pause, NULL);
  }
  (void)pthread_mutex_lock(&lock); /* waits where files are being named just now */
  if (guarded == NULL) {
    (void)pthread_mutex_unlock(&lock);
    return NULL;
  }
  remove_guarded();
  die_by(number);
}

/* A signal that the caller of the process ignores (nohup) stays ignored. */
static void drop_ignored(sigset_t *set) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    struct sigaction action;
    if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN)
      (void)sigdelset(set, numbers[i]);
  }
}

void interrupt_watch(const char *directory, const char *around) {
  sigset_t set;
  pthread_t thread;
  guarded = directory;
  made = around;
  watched_signals(&set);
  drop_ignored(&set);
  (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
  if (pthread_create(&thread, NULL, watch, NULL) == 0)
    (void)pthread_detach(thread);
  else
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

bool interrupt_seen(void) { return atomic_load(&seen) != 0; }

void interrupt_hold(void) { (void)pthread_mutex_lock(&lock); }

void interrupt_end(void) {
  guarded = made = NULL;
  (void)pthread_mutex_unlock(&lock);
}

void interrupt_cleanup(void) {
  if (pthread_mutex_trylock(&lock) != 0) return;
  if (guarded != NULL) remove_guarded();
  (void)pthread_mutex_unlock(&lock);
}

void interrupt_die(void) { die_by(atomic_load(&seen)); }
