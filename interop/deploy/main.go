// Command deploy renders the Helm chart by Helm's own engine, with the values of a file if one is named, and lints it:
//
//	go run . CHART [VALUES]
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
)

func main() {
	if err := render(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func render(args []string) error {
	if len(args) < 1 {
		return fmt.Errorf("usage: deploy CHART [VALUES]")
	}
	values := map[string]any{}
	if len(args) > 1 {
		given, err := chartutil.ReadValuesFile(args[1])
		if err != nil {
			return err
		}
		values = given
	}
	result := lint.All(args[0], values, "aiperf-system", true)
	for _, m := range result.Messages {
		fmt.Fprintln(os.Stderr, m)
	}
	if result.HighestSeverity >= support.WarningSev {
		return fmt.Errorf("the chart has faults")
	}
	c, err := loader.Load(args[0])
	if err != nil {
		return err
	}
	all, err := chartutil.ToRenderValues(c, values, chartutil.ReleaseOptions{Name: "aiperf", Namespace: "aiperf-system",
		IsInstall: true}, nil)
	if err != nil {
		return err
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return err
	}
	var names []string
	for name, text := range files {
		if strings.HasSuffix(name, ".yaml") && strings.TrimSpace(text) != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Printf("---\n%s\n", strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(files[name]), "---")))
	}
	return nil
}
