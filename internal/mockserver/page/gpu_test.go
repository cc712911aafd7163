package page

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/clock"
)

func TestLoadCurve(t *testing.T) {
	curve, err := ParseLoadCurve("2:0.5,4:1,6:0")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ at, load, integral float64 }{
		{0, 0.5, 0}, {2, 0.5, 1}, {3, 0.75, 1.625}, {4, 1, 2.5}, {5, 0.5, 3.25}, {6, 0, 3.5}, {9, 0, 3.5},
	} {
		if load, sum := curve.at(x.at), curve.integral(x.at); math.Abs(load-x.load) > 1e-12 ||
			math.Abs(sum-x.integral) > 1e-12 {
			t.Errorf("at %v s: %v and %v, want %v and %v", x.at, load, sum, x.load, x.integral)
		}
	}
}

// figure returns the value of a line of a page.
func figure(t *testing.T, page, name, gpu string) float64 {
	t.Helper()
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, name+"{") && strings.Contains(line, gpu) {
			var v float64
			if _, err := fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &v); err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("no %s of %s in:\n%s", name, gpu, page)
	return 0
}

func gpuPage(t *testing.T, o GPUOptions, page int, tokens int64) string {
	t.Helper()
	g, err := newGPUPages(o, clock.New())
	if err != nil {
		t.Fatal(err)
	}
	return string(g.body(nil, page, tokens, &g.fault))
}

func TestGPUsOfEachModel(t *testing.T) {
	for _, m := range gpuModels {
		text := gpuPage(t, GPUOptions{Model: m.name, Count: 8, Hostname: `n"1`, Load: &LoadCurve{{0, 1}}}, 0, 0)
		for i := range 8 {
			gpu := fmt.Sprintf(`gpu="%d"`, i)
			if got := figure(t, text, "DCGM_FI_DEV_POWER_USAGE", gpu); got != m.watts {
				t.Errorf("%s: %v W, want %v", m.name, got, m.watts)
			}
			used, free, total := figure(t, text, "DCGM_FI_DEV_FB_USED", gpu),
				figure(t, text, "DCGM_FI_DEV_FB_FREE", gpu), figure(t, text, "DCGM_FI_DEV_FB_TOTAL", gpu)
			if used+free != total || math.Abs(used/total-0.85) > 0.001 {
				t.Errorf("%s: memory %v + %v of %v", m.name, used, free, total)
			}
		}
		if !strings.Contains(text, `Hostname="n\"1"`) || !strings.Contains(text, m.model) {
			t.Errorf("%s: labels are wrong", m.name)
		}
	}
}

func TestGPUsAreTheSameForASeed(t *testing.T) {
	names := func(o GPUOptions, page int) string {
		g, err := newGPUPages(o, clock.New())
		if err != nil {
			t.Fatal(err)
		}
		return g.uuid(page, 0) + g.uuid(page, 1)
	}
	first, again := names(GPUOptions{Seed: 1}, 0), names(GPUOptions{Seed: 1}, 0)
	if first != again {
		t.Error("identities change between runs")
	}
	if names(GPUOptions{Seed: 1}, 0) == names(GPUOptions{Seed: 1}, 1) ||
		names(GPUOptions{Seed: 1}, 0) == names(GPUOptions{Seed: 2}, 0) {
		t.Error("pages or seeds share identities")
	}
}

func TestGPUsFollowTheThroughput(t *testing.T) {
	g, err := newGPUPages(GPUOptions{}, clock.New())
	if err != nil {
		t.Fatal(err)
	}
	power := func(tokens int64) float64 {
		time.Sleep(5 * time.Millisecond)
		return figure(t, string(g.body(nil, 0, tokens, &g.fault)), "DCGM_FI_DEV_POWER_USAGE", `gpu="0"`)
	}
	energy := func() float64 {
		return figure(t, string(g.body(nil, 0, 1000000, &g.fault)), "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", `gpu="0"`)
	}
	idle, busy := power(0), power(1000000)
	if idle > 130 || busy < 600 {
		t.Errorf("idle %v W, busy %v W", idle, busy)
	}
	if a, b := energy(), energy(); b < a || a <= 0 {
		t.Errorf("energy %v then %v", a, b)
	}
}

func TestFaultsOfGPUPages(t *testing.T) {
	level := &LoadCurve{{0, 0.5}}
	if text := gpuPage(t, GPUOptions{Fault: "nan", Load: level}, 0, 0); strings.Count(text, " NaN\n") != 1 {
		t.Errorf("nan:\n%s", text)
	}
	if text := gpuPage(t, GPUOptions{Fault: "gpu_gone_after_s=0", Load: level}, 0, 0); strings.Contains(text,
		`gpu="1"`) {
		t.Error("the GPU is still there")
	}
	if text := gpuPage(t, GPUOptions{Fault: "gpu_gone_after_s=0;gpu_back_after_s=0", Load: level}, 0,
		0); !strings.Contains(text, `gpu="1"`) {
		t.Error("the GPU is not back")
	}
	if text := gpuPage(t, GPUOptions{Fault: "no_energy", Load: level}, amdPage, 0); strings.Contains(text, "energy") {
		t.Error("there is energy")
	}
	g, err := newGPUPages(GPUOptions{Fault: "reset_after_s=0", Load: level}, clock.New())
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Millisecond)
	before := figure(t, string(g.body(nil, 0, 0, &g.fault)), "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", `gpu="0"`)
	if want := 385 * float64(g.clock.NowNS()) / 1e6; before < 0 || before > want {
		t.Errorf("%v mJ after the restart, at most %v", before, want)
	}
}

func TestGPUPagesAreServed(t *testing.T) {
	e := exporter(t, Options{GPU: GPUOptions{Load: &LoadCurve{{0, 1}}}})
	for _, path := range gpuPaths {
		if at, ok := e.Find([]byte(path), ""); !ok || at.gpu == 0 {
			t.Errorf("%s is not found", path)
		}
	}
	if _, ok := e.Find([]byte("/dcgm3/metrics"), ""); ok {
		t.Error("there is a third DCGM page")
	}
	text := gpuPage(t, GPUOptions{Load: &LoadCurve{{0, 1}}}, amdPage, 0)
	if got := figure(t, text, "gpu_package_power", `gpu_id="1"`); got != 750 {
		t.Errorf("power %v", got)
	}
}
