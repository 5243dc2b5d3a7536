/* lib_one.c - a library of dlopen_swap.c; built twice, with different results and layout. */
#ifdef SECOND
static int helper(int x)
{
    return x * 7 + 3;
}
int unused_padding(int x)
{
    return helper(x) ^ 0x55;
}
int answer(int x)
{
    return helper(x) - 1;
}
#else
int answer(int x)
{
    return x + 100;
}
#endif
