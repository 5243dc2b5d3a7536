/* sqlite_threads.c DB - two threads insert into one file database, each over a connection of its
 * own, and get in each other's way. */
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static const char *path;

static int show(void *arg, int n, char **values, char **names)
{
    (void)arg, (void)names;
    for (int i = 0; i < n; i++)
        printf("%s%c", values[i] ? values[i] : "null", i + 1 < n ? ' ' : '\n');
    return 0;
}

static void run(sqlite3 *db, const char *sql)
{
    char *message = NULL;
    int r = sqlite3_exec(db, sql, show, NULL, &message);
    if (r != SQLITE_OK)
        printf("%s: %s\n", sql, message);
    sqlite3_free(message);
}

static void *insert(void *arg)
{
    sqlite3 *db;
    char sql[200];
    sqlite3_open(path, &db);
    sqlite3_busy_timeout(db, 10000);
    for (int i = 0; i < 40; i++) {
        snprintf(sql, sizeof sql, "insert into t(who, value) values(%ld, random())", (long)arg);
        run(db, sql);
    }
    sqlite3_close(db);
    return NULL;
}

int main(int argc, char **argv)
{
    sqlite3 *db;
    pthread_t t[2];
    path = argc > 1 ? argv[1] : "threads.db";
    if (sqlite3_open(path, &db) != SQLITE_OK)
        return 1;
    run(db, "pragma journal_mode=wal");
    run(db, "pragma synchronous=off");
    run(db, "create table t(id integer primary key, who, value)");
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, insert, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    run(db, "select group_concat(who, ''), sum(value % 1000), count(*) from t");
    sqlite3_close(db);
    return 0;
}
