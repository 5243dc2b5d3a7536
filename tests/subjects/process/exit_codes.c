/* exit_codes.c - the program's exit status arrives: argument 1 says which way and which value. */
#include "subject.h"

int main(int argc, char **argv)
{
    int code = argc > 2 ? atoi(argv[2]) : 0;
    printf("buffered text is flushed by exit, not by _exit\n");
    if (argc > 1 && !strcmp(argv[1], "_exit"))
        _exit(code);
    if (argc > 1 && !strcmp(argv[1], "quick"))
        quick_exit(code);
    if (argc > 1 && !strcmp(argv[1], "exit"))
        exit(code);
    return code;
}
