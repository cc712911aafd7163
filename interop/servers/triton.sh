# NVIDIA Triton with its Python backend, on the processor, as PyPI's nvidia-pytriton carries it. Sourced by check.sh.

# start_triton starts Triton on $port (HTTP), $grpc and $metrics, and waits until its models are ready.
start_triton() {
    local home=$cache/triton site stub version
    site=$("$home/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
    version=$("$home/venv/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    stub=$site/pytriton/tritonserver/python_backend_stubs/$version/triton_python_backend_stub
    [ -f "$stub" ] || {
        echo "nvidia-pytriton has no Python backend for Python $version" >&2
        return 1
    }
    rm -rf "$home/backends" "$home/models"
    mkdir -p "$home/backends"
    cp -r "$site/pytriton/tritonserver/backends/python" "$home/backends/"
    cp "$stub" "$home/backends/python/"
    "$python" triton_models.py "$home/models"
    port=$(free_port) grpc=$(free_port) metrics=$(free_port)
    local lib
    lib=$(python3 -c 'import sysconfig; print(sysconfig.get_config_var("LIBDIR"))')
    start "$cache/triton.log" env LD_LIBRARY_PATH="$site/nvidia_pytriton.libs:$lib" PATH="$home/venv/bin:$PATH" \
        "$site/pytriton/tritonserver/bin/tritonserver" --model-repository "$home/models" --backend-directory "$home/backends" \
        --http-address 127.0.0.1 --http-port "$port" --grpc-address 127.0.0.1 --grpc-port "$grpc" \
        --metrics-address 127.0.0.1 --metrics-port "$metrics" --metrics-interval-ms 200 \
        --metrics-config histogram_latencies=true --metrics-config summary_latencies=true \
        --cache-directory "$site/pytriton/tritonserver/caches" --cache-config local,size=10485760
    wait_for answers "http://127.0.0.1:$port/v2/health/ready"
}

triton() {
    # The last of them kills the server.
    local case cases=(infer stream generate queue cache batch embed rank killed)
    [ -z "$brief" ] || cases=(infer stream generate queue batch killed)
    requirements triton
    start_triton || {
        failed+=(triton)
        return 0
    }
    for case in "${cases[@]}"; do
        judge "triton: $case" "$python" triton_cases.py "$case" --aiperf "$cache/aiperf" --http "127.0.0.1:$port" \
            --grpc "127.0.0.1:$grpc" --page "http://127.0.0.1:$metrics/metrics" --pid "$server" --work "$cache/runs" $brief
    done
    stop
}
