/* plugin.c - a library that plugged.c loads late. SPDX-License-Identifier: MIT */
int plugin_state = 40;
__thread int plugin_own = 9;

int plugin_run(int n)
{
    plugin_state += n; /* IN PLUGIN */
    plugin_own++;
    return plugin_state;
}
