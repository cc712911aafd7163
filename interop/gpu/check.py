"""check.py NAME DIRECTORY LOG CODE: checks the files of one run against what the stubs say."""
import json, os, sys

name, directory, log, code = sys.argv[1], sys.argv[2], open(sys.argv[3]).read(), int(sys.argv[4])
problems = []


def expect(what, got, want, tolerance=1e-9):
    if isinstance(want, float):
        good = isinstance(got, (int, float)) and abs(got - want) <= tolerance * max(abs(want), 1)
    else:
        good = got == want
    if not good:
        problems.append(f"{what}: {got!r}, expected {want!r}")


def lines():
    path = f"{directory}/gpu_telemetry_export.jsonl"
    return [json.loads(line) for line in open(path)] if os.path.exists(path) else []


GPU0 = {"gpu_power_usage": 250.0, "gpu_utilization": 66.0, "mem_utilization": 33.0, "gpu_memory_used": 17.179869184, "gpu_temperature": 55.0,
        "decoder_utilization": 1.0, "encoder_utilization": 2.0, "power_violation": 1234.567, "sm_utilization": 87.34}
GPU1 = {"gpu_power_usage": 100.0, "gpu_temperature": 56.0, "sm_utilization": 100.0}
AMD = {"amd_power": 500.0, "amd_gfx_activity": 90.0, "amd_umc_activity": 40.0, "amd_memory_used": 12.5, "amd_temperature": 61.0,
       "amd_ecc_uncorrectable": 3.0, "amd_throttle_status": 1.0}
SMI0 = {k: v for k, v in GPU0.items() if k not in ("power_violation", "sm_utilization")}
OLD0 = {k: v for k, v in SMI0.items() if k not in ("decoder_utilization", "encoder_utilization")}
AMDSMI = {**{k: v for k, v in AMD.items() if k != "amd_throttle_status"}, "amd_memory_used": 2.0}

if name == "nvml-no-driver":
    expect("exit code", code, 1)
    if "the driver is not loaded" not in log or "--gpu-telemetry pynvml" not in log:
        problems.append("the error does not say what is wrong")
else:
    expect("exit code", code, 0)
    summary = json.load(open(f"{directory}/profile_export_aiperf.json"))
    expect("requests", summary["request_count"]["avg"], 26.0)
    duration = (summary["run_info"]["end_time_ns"] - summary["run_info"]["start_time_ns"]) / 1e9
    records = lines()

    def readings(index, fields, energy=None):
        mine = [r["telemetry_data"] for r in records if r["gpu_index"] == index]
        if len(mine) < 2:
            problems.append(f"only {len(mine)} readings of GPU {index}")
            return
        for reading in mine:
            rest = dict(reading)
            grown = rest.pop(energy, None) if energy else None
            if energy and grown is None:
                problems.append(f"no {energy}")
            expect(f"fields of GPU {index}", sorted(rest), sorted(fields))
            for field, want in fields.items():
                expect(f"GPU {index} {field}", reading.get(field), want, 1e-6)

    def energy(tag, watts):
        joules = summary[tag]["avg"]
        if not watts * (duration - 0.05) <= joules <= watts * (duration + 0.5):
            problems.append(f"{tag}: {joules} J in {duration} s at {watts} W")

    if name in ("nvml", "nvml-lost-gpu"):
        readings(0, GPU0, "energy_consumption")
        readings(1, GPU1)
        expect("identity", {k: records[0][k] for k in ("gpu_uuid", "gpu_model_name", "pci_bus_id", "device", "hostname", "dcgm_url", "platform")},
               {"gpu_uuid": "GPU-stub-0", "gpu_model_name": "Stub H200", "pci_bus_id": "00000000:02:00.0", "device": "nvidia0",
                "hostname": "localhost", "dcgm_url": "pynvml://localhost", "platform": "nvidia"})
        expect("made-up identity", [records[1]["gpu_uuid"], records[1]["gpu_model_name"]], ["GPU-unknown-1", "Unknown GPU"])
        expect("power", summary["total_gpu_power"]["avg"], 350.0)
        energy("total_gpu_energy", 250)
        for text in ("PyNVML initialized with 2 GPU(s) (1 with GPM support)", "localhost | GPU 0 | Stub H200", "Total GPU Energy (1 GPU) (J)"):
            if text not in log:
                problems.append(f"the report lacks {text!r}")
        if name == "nvml-lost-gpu" and "GPU 2 is left out: the GPU is lost" not in log:
            problems.append("the lost GPU is not told")
    elif name in ("nvml-hang", "nvml-crash"):
        errors = summary["telemetry_data"]["error_summary"]
        if not errors or log.count("aiperf-gpu: ") < 1:
            problems.append(f"the failure is not told: {errors}")
        if not records:
            problems.append("what was read before is lost")
        expect("power", summary["telemetry_data"]["endpoints"]["localhost"]["gpus"]["gpu_0"]["metrics"].get("gpu_power_usage", {}).get("avg", 250.0), 250.0)
    elif name == "nvml-none":
        if "GPU telemetry disabled - pynvml not available or no GPUs found" not in log or records or "telemetry_data" in summary:
            problems.append("a driver without GPUs")
    elif name in ("amdsmi", "amdsmi-new"):
        readings(0, AMD, "amd_energy_consumption")
        expect("power", summary["amd_total_gpu_power"]["avg"], 500.0)
        energy("amd_total_gpu_energy", 500)
        expect("identity", [records[0][k] for k in ("gpu_uuid", "gpu_model_name", "pci_bus_id", "dcgm_url")],
               ["stub-amd-uuid", "Stub MI300X", "0000:0c:00.0", "amdsmi://localhost"])
    elif name in ("nvidia-smi", "nvidia-smi-old"):
        readings(0, SMI0 if name == "nvidia-smi" else OLD0)
        readings(1, {"gpu_temperature": 56.0})
        expect("power", summary["total_gpu_power"]["avg"], 250.0)
        expect("energy", summary["total_gpu_energy"]["avg"], 250 * duration, 1e-6)
        if "Total GPU Energy (1 GPU) (integrated)" not in log:
            problems.append("the energy is not marked as integrated")
    elif name == "amd-smi":
        readings(0, AMDSMI, "amd_energy_consumption")
        energy("amd_total_gpu_energy", 500)

print(f"{name}: {'good' if not problems else ''}")
for p in problems:
    print("  " + p)
sys.exit(bool(problems))
