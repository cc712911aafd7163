module example.com/aiperf-plugin

go 1.26
