/* A library that answers like NVML for two GPUs of known values. It holds only what aiperf-gpu calls.
 *
 * GPU 0 has everything and measures its SMs by GPM; its power is 250 W, its energy that since the library was loaded.
 * GPU 1 has power, temperature and processes only, and neither UUID nor name.
 * STUB_GPUS=N        number of GPUs (default 2); the third and later ones have no handle
 * STUB_HANG_AFTER=N  the power reading number N + 1 never ends
 * STUB_CRASH_AFTER=N the power reading number N + 1 ends the process by a bad access
 * STUB_INIT=STATUS   the status of the initialisation
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OK = 0, UNSUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT = 7 };

static int setting(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

static struct timespec loaded;
static int readings;

__attribute__((constructor)) static void load(void) { clock_gettime(CLOCK_MONOTONIC, &loaded); }

static double elapsed(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - loaded.tv_sec) + (now.tv_nsec - loaded.tv_nsec) / 1e9;
}

typedef struct { int index; } device;
static device devices[2] = {{0}, {1}};

int nvmlInit_v2(void) { return setting("STUB_INIT", OK); }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = setting("STUB_GPUS", 2); return OK; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, device **handle) {
    if (index > 1) return 15;
    *handle = &devices[index];
    return OK;
}
int nvmlDeviceGetUUID(device *d, char *text, unsigned length) {
    if (d->index) return UNSUPPORTED;
    strncpy(text, "GPU-stub-0", length);
    return OK;
}
int nvmlDeviceGetName(device *d, char *text, unsigned length) {
    if (d->index) return UNSUPPORTED;
    strncpy(text, "Stub H200", length);
    return OK;
}
typedef struct {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char bus_id[32];
} pci;
int nvmlDeviceGetPciInfo_v3(device *d, pci *info) {
    if (d->index) return UNSUPPORTED;
    strcpy(info->legacy, "wrong");
    strcpy(info->bus_id, "00000000:02:00.0");
    return OK;
}
int nvmlDeviceGetPowerUsage(device *d, unsigned *milliwatts) {
    int n = readings++;
    int hang = setting("STUB_HANG_AFTER", -1), crash = setting("STUB_CRASH_AFTER", -1);
    if (hang >= 0 && n >= hang) for (;;) sleep(1000);
    if (crash >= 0 && n >= crash) *(volatile int *)8 = 1;
    *milliwatts = d->index ? 100000 : 250000;
    return OK;
}
int nvmlDeviceGetTotalEnergyConsumption(device *d, unsigned long long *millijoules) {
    if (d->index) return UNSUPPORTED;
    *millijoules = 5000000 + (unsigned long long)(elapsed() * 250000);
    return OK;
}
int nvmlDeviceGetUtilizationRates(device *d, unsigned *rates) {
    if (d->index) return UNSUPPORTED;
    rates[0] = 66;
    rates[1] = 33;
    return OK;
}
int nvmlDeviceGetMemoryInfo(device *d, unsigned long long *info) {
    if (d->index) return UNSUPPORTED;
    info[0] = 150754820096ull;
    info[1] = info[0] - 17179869184ull;
    info[2] = 17179869184ull;
    return OK;
}
int nvmlDeviceGetTemperature(device *d, unsigned sensor, unsigned *celsius) {
    if (sensor != 0) return 2;
    *celsius = 55 + d->index;
    return OK;
}
static int codec(device *d, unsigned *value, unsigned *period, unsigned is) {
    if (d->index) return UNSUPPORTED;
    *value = is;
    *period = 1000;
    return OK;
}
int nvmlDeviceGetDecoderUtilization(device *d, unsigned *v, unsigned *p) { return codec(d, v, p, 1); }
int nvmlDeviceGetEncoderUtilization(device *d, unsigned *v, unsigned *p) { return codec(d, v, p, 2); }
/* nvmlDeviceGetJpgUtilization is missing, as in older drivers. */
int nvmlDeviceGetViolationStatus(device *d, int policy, unsigned long long *times) {
    if (d->index || policy != 0) return UNSUPPORTED;
    times[0] = 1;
    times[1] = 1234567;
    return OK;
}

typedef struct { unsigned version, supported; } gpm_support;
typedef struct {
    unsigned id, status;
    double value;
    char *texts[3];
} gpm_metric;
typedef struct {
    unsigned version, count;
    void *earlier, *later;
    gpm_metric metrics[1];
} gpm_get;
int nvmlGpmQueryDeviceSupport(device *d, gpm_support *s) {
    if (s->version != 1) return 2;
    s->supported = d->index == 0;
    return OK;
}
int nvmlGpmSampleAlloc(void **sample) { *sample = calloc(1, 64); return OK; }
int nvmlGpmSampleGet(device *d, void *sample) {
    static int number;
    if (d->index) return UNSUPPORTED;
    *(int *)sample = ++number;
    return OK;
}
int nvmlGpmMetricsGet(gpm_get *g) {
    if (g->version != 1 || g->count != 1 || *(int *)g->later <= *(int *)g->earlier) return 2;
    g->metrics[0].status = g->metrics[0].id == 2 ? OK : UNSUPPORTED;
    g->metrics[0].value = 87.34;
    return OK;
}

typedef struct {
    unsigned pid;
    unsigned long long stamp;
    unsigned sm, memory, encoder, decoder;
} process;
int nvmlDeviceGetProcessUtilization(device *d, process *list, unsigned *count, unsigned long long since) {
    unsigned room = *count;
    (void)since;
    if (d->index == 0) return NOT_FOUND;
    *count = 2;
    if (!list || room < 2) return INSUFFICIENT;
    list[0] = (process){.pid = 1, .stamp = 10, .sm = 40};
    list[1] = (process){.pid = 2, .stamp = 11, .sm = 70};
    return OK;
}
