/* stdio.c - libc work of all kinds: printf of floats, scanf, qsort, regex, locale, malloc, iconv.
 */
#include "subject.h"
#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <regex.h>
#include <wchar.h>

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

int main(void)
{
    setlocale(LC_ALL, "C.UTF-8");
    printf("%d %s %g %.17g %a %Lg %5.2f|%-8s|%08x\n", -5, "text", 1.0 / 3, M_PI, 0.1, 1e4000L,
           2.675, "left", 48879);
    printf("%.3f %.3f %.3f %.3f\n", sin(1.0), exp(2.5), log1p(0.3), pow(1.7, 2.9));
    printf("%ls %zu\n", L"wide \u00e9", strlen("\xc3\xa9"));
    double d;
    int i;
    char word[20];
    printf("%d", sscanf("12 3.5e3 abc", "%d %lf %19s", &i, &d, word));
    printf(" %d %g %s\n", i, d, word);
    int v[1000];
    unsigned seed = 42;
    for (int k = 0; k < 1000; k++)
        v[k] = (int)((seed = seed * 1103515245 + 12345) >> 8);
    qsort(v, 1000, sizeof v[0], by_value);
    unsigned h = 0;
    for (int k = 0; k < 1000; k++)
        h = h * 31 + (unsigned)v[k];
    printf("sorted %x\n", h);
    regex_t re;
    regmatch_t m[2];
    regcomp(&re, "([a-z]+)[0-9]+", REG_EXTENDED);
    int found = regexec(&re, "..abc123..", 2, m, 0);
    printf("match %d at %d\n", found, m[1].rm_so);
    regfree(&re);
    void *keep[200];
    for (int r = 0; r < 20; r++) {
        for (int k = 0; k < 200; k++)
            memset(keep[k] = malloc((size_t)(k * 37 % 5000 + 1)), k, (size_t)(k * 37 % 5000 + 1));
        for (int k = 0; k < 200; k++)
            free(keep[(k * 7) % 200]);
    }
    time_t t = 86400 * 365;
    char when[64];
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", gmtime(&t));
    printf("%s %s\n", when, strerror(ENOENT));
    FILE *f = fopen("out", "w+");
    for (int k = 0; k < 10000; k++)
        fprintf(f, "line %d\n", k);
    rewind(f);
    long lines = 0;
    for (int c; (c = fgetc(f)) != EOF;)
        lines += c == '\n';
    printf("lines %ld\n", lines);
    return fclose(f);
}
