/* A library that answers like AMD SMI for one GPU of known values: 500 W, energy since the library was loaded.
 * It holds only what aiperf-gpu calls.
 *
 * STUB_LAYOUT=new|old   which structure of power; new has a 64-bit power in front (default old)
 * STUB_MILLIDEGREES=1   temperatures as older libraries give them
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct timespec loaded;

__attribute__((constructor)) static void load(void) { clock_gettime(CLOCK_MONOTONIC, &loaded); }

static double elapsed(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - loaded.tv_sec) + (now.tv_nsec - loaded.tv_nsec) / 1e9;
}

static int things(uint32_t *count, void **list) {
    if (list) list[0] = &loaded;
    *count = 1;
    return 0;
}
int amdsmi_init(uint64_t flags) { return flags == 2 ? 0 : 1; }
int amdsmi_get_socket_handles(uint32_t *count, void **list) { return things(count, list); }
int amdsmi_get_processor_handles(void *socket, uint32_t *count, void **list) {
    return socket == &loaded ? things(count, list) : 1;
}
int amdsmi_get_gpu_asic_info(void *h, char *info) { (void)h; strcpy(info, "Stub MI300X"); return 0; }
int amdsmi_get_gpu_device_uuid(void *h, uint32_t *length, char *text) { (void)h; strncpy(text, "stub-amd-uuid", *length); return 0; }
int amdsmi_get_gpu_device_bdf(void *h, uint64_t *bdf) { (void)h; *bdf = 0x0c << 8; return 0; }
int amdsmi_get_power_info(void *h, uint32_t *info) {
    (void)h;
    const char *layout = getenv("STUB_LAYOUT");
    if (layout && !strcmp(layout, "new")) {
        info[0] = 500, info[1] = 0, info[2] = 500, info[3] = 0xffffffff;
        info[4] = 800;
        return 0;
    }
    info[0] = 0xffffffff, info[1] = 500, info[2] = 800, info[5] = 750;
    return 0;
}
int amdsmi_get_energy_count(void *h, uint64_t *energy, float *resolution, uint64_t *stamp) {
    (void)h;
    *resolution = 15.3f;
    *energy = (uint64_t)((100 + elapsed() * 500) * 1e6 / 15.3);
    *stamp = 1;
    return 0;
}
int amdsmi_get_gpu_activity(void *h, uint32_t *a) { (void)h; a[0] = 90, a[1] = 40, a[2] = 0xffffffff; return 0; }
int amdsmi_get_gpu_memory_usage(void *h, int type, uint64_t *used) {
    (void)h;
    *used = 12500000000ull;
    return type == 0 ? 0 : 1;
}
int amdsmi_get_temp_metric(void *h, int sensor, int metric, int64_t *t) {
    (void)h;
    if (sensor != 1 || metric != 0) return 2;
    *t = getenv("STUB_MILLIDEGREES") ? 61000 : 61;
    return 0;
}
int amdsmi_get_gpu_total_ecc_count(void *h, uint64_t *c) { (void)h; c[0] = 9, c[1] = 3, c[2] = 0; return 0; }
int amdsmi_get_gpu_metrics_info(void *h, uint8_t *m) {
    (void)h;
    memset(m + 68, 0xff, 4);
    *(uint64_t *)(m + 112) = 1 << 4;
    return 0;
}
